// What is minimised does not depend on who is slow.
#include <cmath>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

double final_loss(double slow, std::uint64_t seed, Sampling sampling) {
  TrainOptions options{.workers = 2, .eta = 0.01, .batch = 10, .sampling = sampling};
  options.max_time = std::chrono::seconds(40);
  options.slow = {{WorkerId{1}, slow}};
  options.seed = seed;
  const VirtualWorld world{.compute = TimeModel::constant(1'000'000),
                           .latency = TimeModel::constant(10'000)};
  return simulate(Logistic::random(seed), options, world).summary.loss;
}

TEST(SamplingFromOneDistribution, ASlowWorkerChangesNothingAboutWhatIsMinimised) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const double equal = final_loss(1, seed, Sampling::own);
    for (const double slow : {10.0, 100.0})
      EXPECT_NEAR(final_loss(slow, seed, Sampling::own), equal, 0.02 * equal)
          << "seed " << seed << ", slow " << slow;
  }
}

TEST(SamplingFromOneDistribution, ShardsDoMinimiseSomethingElse) {
  EXPECT_GT(final_loss(100, 1, Sampling::shards), 1.1 * final_loss(1, 1, Sampling::shards));
}

TEST(SamplingFromOneDistribution, SharesSkewedByLabelCostMoreWhereWorkersAreUneven) {
  const Sampling skewed{Sampling::dirichlet, 0.05};
  const double equal = final_loss(1, 1, skewed), uneven = final_loss(100, 1, skewed);
  EXPECT_NEAR(equal, final_loss(1, 1, Sampling::own), 0.05 * equal);
  EXPECT_GT(uneven, 1.1 * equal);
}

TEST(SamplingFromOneDistribution, EpochsEndWhenTheSamplesOfAllTogetherAreUsed) {
  for (const double slow : {1.0, 10.0, 1000.0}) {
    TrainOptions options{.workers = 4, .eta = 0.01, .batch = 10, .epochs = 30};
    options.slow = {{WorkerId{2}, slow}};
    const auto result = simulate(
        Logistic::random(1), options,
        {.compute = TimeModel::constant(1'000'000), .latency = TimeModel::constant(10'000)});
    EXPECT_EQ(result.summary.samples, 3000u);
    EXPECT_EQ(result.summary.gradients, 300u);
    const double n = 4, fair = 300 / (n - 1 + 1 / slow) * 1e-3;
    const double one_more = slow * 1e-3;  // what is under way is finished
    EXPECT_LE(*result.summary.virtual_seconds, 1.1 * fair + one_more);
  }
}

/// Says that there is nothing now until it has been asked a few times, then gives, then ends.
class Hesitant final : public SampleSource {
 public:
  explicit Hesitant(std::uint32_t batches) : left_(batches) {}
  Draw next() override {
    if (left_ == 0) return Draw::no_more();
    if (++asked_ % 3 != 0) return Draw::none_now();
    --left_;
    return Draw::batch(row_);
  }

 private:
  std::uint32_t left_, asked_ = 0;
  const std::vector<std::uint32_t> row_{0};
};

struct Dry final : SampleSource {
  Draw next() override { return Draw::none_now(); }
};

TEST(OwnSources, AWorkerWithoutASampleGoesOnApplyingAndAsksAgain) {
  for (const std::uint32_t other : {0u, 300u}) {
    TrainOptions options{.workers = 2, .eta = 0.01};
    options.make_samples = [&](WorkerId worker, std::uint64_t) {
      return std::make_unique<Hesitant>(worker == WorkerId{0} ? other : 1000);
    };
    const auto result = simulate(Logistic::random(1), options, {});
    EXPECT_EQ(result.summary.gradients, 1000u + other);
    EXPECT_EQ(result.summary.stop_reason, StopReason::samples);
    EXPECT_TRUE(result.summary.audit_is_clean());
  }
}

TEST(OwnSources, OneThatIsDryForeverEndsWithTheTime) {
  TrainOptions options{.workers = 2, .eta = 0.01, .max_time = std::chrono::seconds(2)};
  options.make_samples = [](WorkerId, std::uint64_t) { return std::make_unique<Dry>(); };
  const auto result = simulate(Logistic::random(1), options, {});
  EXPECT_EQ(result.summary.gradients, 0u);
  EXPECT_EQ(result.summary.stop_reason, StopReason::max_time);
  EXPECT_NEAR(*result.summary.virtual_seconds, 2, 0.01);
}

VirtualWorld with_arrivals(const ArrivalTimes& arrivals) {
  VirtualWorld world{.compute = TimeModel::constant(1'000'000),
                     .latency = TimeModel::constant(10'000)};
  world.arrivals = arrivals;
  return world;
}

TEST(Arrivals, APoissonProcessFeedsAllWorkersTogetherAndRepeats) {
  const Logistic f = Logistic::random(1);
  TrainOptions options{.workers = 4, .eta = 0.01, .batch = 5, .epochs = 40};
  const auto slow = simulate(f, options, with_arrivals({.per_second = 1000, .times = {}}));
  EXPECT_EQ(slow.summary.samples, 4000u);
  EXPECT_NEAR(*slow.summary.virtual_seconds, 4, 0.4) << "as fast as samples come";
  ASSERT_TRUE(slow.summary.arrivals);
  EXPECT_NEAR(static_cast<double>(slow.summary.arrivals->arrived), 4000, 10);
  EXPECT_TRUE(slow.summary.audit_is_clean());
  const auto fast = simulate(f, options, with_arrivals({.per_second = 1e6, .times = {}}));
  EXPECT_LT(*fast.summary.virtual_seconds, 0.5) << "as fast as workers learn";
  EXPECT_GT(fast.summary.arrivals->arrived, 100'000u);
  const auto again = simulate(f, options, with_arrivals({.per_second = 1000, .times = {}}));
  EXPECT_EQ(again.summary.replica_digest, slow.summary.replica_digest);
  EXPECT_EQ(again.summary.virtual_seconds, slow.summary.virtual_seconds);
}

TEST(Arrivals, AFileOfTimesEndsTheRunWithItsLastSample) {
  const Logistic f = Logistic::random(1);
  TrainOptions options{.workers = 2, .eta = 0.01, .batch = 3};
  const auto result = simulate(
      f, options,
      with_arrivals({.times = {0, 0, 5'000'000, 40'000'000, 40'000'000, 40'000'000, 90'000'000}}));
  EXPECT_EQ(result.summary.samples, 7u);
  EXPECT_EQ(result.summary.gradients, 3u) << "the last batch is of one";
  EXPECT_EQ(result.summary.stop_reason, StopReason::samples);
  EXPECT_EQ(result.summary.arrivals->arrived, 7u);
  EXPECT_GT(*result.summary.virtual_seconds, 0.090);
  options.batch = 0;
  EXPECT_THROW(simulate(f, options, with_arrivals({.times = {0}})), InputError);
}

}  // namespace
}  // namespace dasgd
