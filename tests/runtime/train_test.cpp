#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "dasgd/dasgd.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/problems/error_window.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(Train, OneWorkerIsPlainGradientDescent) {
  const Quadratic q = Quadratic::random(1);
  const auto result = train(q, {.workers = 1, .eta = 0.05, .gradients = {300}});
  std::vector<double> x = q.start(), g(10);
  for (int i = 0; i < 300; ++i) {
    q.full_gradient(x, g);
    for (std::size_t c = 0; c < 10; ++c) x[c] -= 0.05 * g[c];
  }
  for (std::size_t c = 0; c < 10; ++c) EXPECT_NEAR(result.model[c], x[c], 1e-14);
  EXPECT_EQ(result.summary.staleness.S_max, 0u);
}

TEST(Train, OneWorkerRepeatsItselfToTheBit) {
  const auto run = [] {
    return train(Logistic::random(1), {.workers = 1, .batch = 10, .epochs = 3});
  };
  EXPECT_EQ(run().summary.replica_digest, run().summary.replica_digest);
}

TEST(Train, StopsAtTheTargetErrorOfThePaper) {
  const Quadratic q = Quadratic::random(1);
  const auto result = train(q, {.workers = 1, .eta = 0.02, .target_error = 1e-6});
  // The same by hand: mean norm of the gradient over the last 30 models, x^0 included.
  std::vector<double> x = q.start(), g(10);
  ErrorWindow error;
  q.full_gradient(x, g);
  error.add(l2_norm<double>(g));
  std::uint64_t t = 0;
  while (error.mean().value_or(1) > 1e-6) {
    for (std::size_t c = 0; c < 10; ++c) x[c] -= 0.02 * g[c];
    q.full_gradient(x, g);
    error.add(l2_norm<double>(g));
    ++t;
  }
  EXPECT_EQ(result.summary.stop_reason, StopReason::target);
  EXPECT_THAT(result.summary.iterations, ElementsAre(t));
}

TEST(Train, ATargetStopsOnlyWhenEveryWorkerHasReachedIt) {
  const auto result = train(Quadratic::random(1), {.workers = 3,
                                                   .topology = "ring",
                                                   .eta = 0.01,
                                                   .target_error = 1e-3,
                                                   .slow = {{WorkerId{2}, 5}},
                                                   .compute = 200us});
  EXPECT_EQ(result.summary.stop_reason, StopReason::target);
  EXPECT_TRUE(result.summary.audit_is_clean());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(result.summary.iterations[i], 29u);
    EXPECT_LE(result.summary.iterations[i], result.summary.gradients);
    EXPECT_GT(result.summary.time[i], 0);
  }
}

TEST(Train, ReachesATargetLossEvenWithAWorkerThatNeverComputes) {
  const auto result = train(Logistic::random(1), {.workers = 3,
                                                  .eta = 0.1,
                                                  .batch = 0,
                                                  .gradients = {100'000, 0, 100'000},
                                                  .target_loss = 0.65});
  EXPECT_EQ(result.summary.stop_reason, StopReason::target);
  EXPECT_LE(result.summary.loss, 0.66);
  EXPECT_EQ(result.summary.gradients_by_worker[1], 0u);
}

TEST(Train, TakesUnevenBudgets) {
  const auto result =
      train(Quadratic::random(1), {.workers = 4, .topology = "ring", .gradients = {0, 5, 300, 40}});
  EXPECT_THAT(result.summary.gradients_by_worker, ElementsAre(0, 5, 300, 40));
  EXPECT_THAT(result.summary.iterations, Each(345));
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, AWorkerWithoutDataStillAppliesEverything) {
  const auto result = train(Logistic::random(1, 3, 5),
                            {.workers = 5, .batch = 1, .sampling = Sampling::shards, .epochs = 4});
  EXPECT_EQ(result.summary.gradients, 12u);
  EXPECT_THAT(result.summary.iterations, Each(12));
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, EpochsCountTheSamplesOfAllWorkersTogether) {
  const auto result = train(Logistic::random(1), {.workers = 3, .batch = 8, .epochs = 2});
  EXPECT_GE(result.summary.samples, 200u);
  EXPECT_LT(result.summary.samples, 208u) << "beyond the budget is at most the rest of a batch";
}

TEST(Train, ASlowWorkerDoesNotHoldUpAnEpoch) {
  TrainOptions options{.workers = 2, .batch = 10, .epochs = 20};
  options.slow = {{WorkerId{1}, 1e9}};  // its first gradient would take longer than anybody waits
  const auto result = train(Logistic::random(1), options);
  EXPECT_LE(result.summary.gradients_by_worker[1], 1u);
  EXPECT_EQ(result.summary.gradients, 200u);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, TotalGradientsAreThoseOfAllWorkers) {
  const auto result = train(Quadratic::random(1), {.workers = 4, .total_gradients = 1001});
  EXPECT_EQ(result.summary.gradients, 1001u);
  EXPECT_EQ(result.summary.stop_reason, StopReason::budget);
}

TEST(Train, StopsAtItsTimeLimit) {
  const auto result = train(Quadratic::random(1), {.workers = 2, .eta = 1e-6, .max_time = 100ms});
  EXPECT_EQ(result.summary.stop_reason, StopReason::max_time);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, AStopFromOutsideDrainsCleanly) {
  std::stop_source source;
  const auto result = train(Quadratic::random(1),
                            {.workers = 4,
                             .topology = "ring",
                             .eta = 1e-6,
                             .max_time = 10min,
                             .stop = source.get_token(),
                             .report_every = 1ms},
                            {[&](const Progress<double>& p) {
                              if (p.gradients > 1000) source.request_stop();
                              return Flow::go_on;
                            }});
  EXPECT_EQ(result.summary.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, AStopEndsTheSleepOfASlowWorker) {
  const auto result = train(Quadratic::random(1),
                            {.workers = 2, .gradients = {5}, .compute = 1h, .report_every = 50ms},
                            {[](const Progress<double>&) { return Flow::stop; }});
  EXPECT_EQ(result.summary.stop_reason, StopReason::callback);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

/// Worker 1 ends its first gradient when worker 0 has made `others`.
class OneWaits final : public Objective<double> {
 public:
  explicit OneWaits(int others) : left_(others) {}
  std::size_t dimension() const override { return 1; }
  double gradient(std::span<const double>, Rows, std::span<double>) const override { return 0; }
  std::unique_ptr<Oracle<double>> make_oracle(WorkerId worker) const override {
    return std::make_unique<Own>(worker, left_);
  }

 private:
  struct Own final : Oracle<double> {
    Own(WorkerId worker, std::latch& latch) : id(worker), left(latch) {}
    double gradient(ComputePoint<double>&, const Batch&, std::span<double> g) override {
      g[0] = 0;
      id == WorkerId{0} ? left.count_down() : left.wait();
      return 0;
    }
    const WorkerId id;
    std::latch& left;
  };
  mutable std::latch left_;
};

// It hangs if anybody waits for worker 1.
TEST(Train, ASlowWorkerSlowsNobodyElse) {
  const auto result =
      train(OneWaits(500), {.workers = 2, .gradients = {500, 2}, .in_flight = 1000});
  EXPECT_THAT(result.summary.gradients_by_worker, ::testing::ElementsAre(500u, 2u));
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, TwoRunsInOneProcessDoNotDisturbEachOther) {
  std::vector<std::jthread> both;
  std::atomic<int> clean{0};
  for (int k = 0; k < 2; ++k)
    both.emplace_back([&] {
      clean += train(Quadratic::random(1), {.workers = 3, .eta = 0.002}).summary.audit_is_clean();
    });
  both.clear();
  EXPECT_EQ(clean, 2);
}

TEST(Train, SoftmaxLearnsOnSeveralWorkers) {
  const test::TemporaryDirectory directory;
  test::write_tiny_idx(directory);
  const auto result =
      train(Softmax(image_samples(read_idx_directory(directory.path()), {.scale = Scale::by_255})),
            {.workers = 3, .eta = 0.2, .batch = 5, .epochs = 40});
  EXPECT_GT(*result.summary.accuracy, 0.95);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

}  // namespace
}  // namespace dasgd
