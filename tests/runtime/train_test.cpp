#include <cmath>
#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

#include "dasgd/dasgd.hpp"
#include "dasgd/problems/error_window.hpp"
#include "dasgd/record/trace_reader.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Shape {
  std::string topology;
  std::size_t workers;
  std::optional<RelayMode> relay;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.topology; }

class EveryTopology : public ::testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(
    Train, EveryTopology,
    ::testing::Values(Shape{"ring", 8, {}}, Shape{"full", 16, {}}, Shape{"ring", 16, {}},
                      Shape{"directed-ring", 16, {}}, Shape{"star", 16, {}},
                      Shape{"torus:4x4", 16, {}}, Shape{"exponential", 16, {}},
                      Shape{"random-regular:3", 16, {}}, Shape{"ring", 16, RelayMode::apply},
                      Shape{"torus:4x4", 16, RelayMode::apply}, Shape{"star", 16, RelayMode::apply},
                      Shape{"directed-ring", 16, RelayMode::apply},
                      Shape{"full", 16, RelayMode::arrival}),
    [](const auto& info) {
      std::string name = info.param.topology + std::to_string(info.param.workers) +
                         (info.param.relay ? to_string(*info.param.relay) : "");
      std::erase_if(name, [](char c) { return !std::isalnum(c); });
      return name;
    });

TEST_P(EveryTopology, EndsWithACleanAuditAndATraceThatTheCheckAgreesWith) {
  const test::TemporaryDirectory directory;
  for (const double slow : {1.0, 20.0}) {
    TraceWriter trace(directory.file("trace.jsonl"), GetParam().workers);
    TrainOptions options{.workers = GetParam().workers,
                         .topology = GetParam().topology,
                         .relay = GetParam().relay,
                         .eta = 0.002,
                         .gradients = {100}};
    options.trace = &trace;
    if (slow > 1) options.slow = {{WorkerId{1}, slow}};
    const auto result = train(Quadratic::random(1), options);
    trace.finish();
    EXPECT_TRUE(result.summary.audit_is_clean());
    EXPECT_EQ(result.summary.gradients, 100 * GetParam().workers);
    EXPECT_EQ(result.summary.stop_reason, "budget");

    const TraceFile file = read_trace(directory.file("trace.jsonl"));
    const TraceCheck check = check_trace(file.applications);
    ASSERT_TRUE(check.ok()) << check.violations.front().line << ": "
                            << check.violations.front().what;
    EXPECT_EQ(check.events.size(), result.summary.gradients * GetParam().workers);
    for (const Application& a : file.applications) ASSERT_TRUE(a.S.has_value());
    EXPECT_DOUBLE_EQ(check.staleness.S_avg, result.summary.staleness.S_avg);
    EXPECT_DOUBLE_EQ(check.staleness.S_hat_avg, result.summary.staleness.S_hat_avg);
    EXPECT_EQ(check.staleness.S_hat_max, result.summary.staleness.S_hat_max);
    EXPECT_DOUBLE_EQ(check.staleness.S_mean_square, result.summary.staleness.S_mean_square);
    EXPECT_EQ(check.staleness.W, result.summary.staleness.W);
    EXPECT_EQ(check.noncausal_applications, result.summary.noncausal_applications);
  }
}

TEST_P(EveryTopology, CannotDeadlockWithTheSmallestBuffers) {
  const auto result = train(Quadratic::random(1), {.workers = GetParam().workers,
                                                   .topology = GetParam().topology,
                                                   .relay = GetParam().relay,
                                                   .eta = 0.001,
                                                   .gradients = {50},
                                                   .in_flight = 2});
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_LE(result.summary.staleness.S_max, 2 * 2 * GetParam().workers * GetParam().workers);
}

TEST(Train, TakesAGraphFromAFile) {
  const test::TemporaryDirectory directory;
  const auto path = directory.write("edges", "0 1\n1 2\n2 -> 3\n3 -> 0\n");
  for (const RelayMode relay : {RelayMode::arrival, RelayMode::apply}) {
    const auto result = train(Quadratic::random(1), {.workers = 4,
                                                     .topology = "file:" + path,
                                                     .relay = relay,
                                                     .eta = 0.002,
                                                     .gradients = {100}});
    EXPECT_TRUE(result.summary.audit_is_clean());
  }
}

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
  EXPECT_EQ(result.summary.stop_reason, "target");
  EXPECT_THAT(result.summary.iterations, ElementsAre(t));
}

TEST(Train, ATargetStopsOnlyWhenEveryWorkerHasReachedIt) {
  const auto result = train(Quadratic::random(1), {.workers = 3,
                                                   .topology = "ring",
                                                   .eta = 0.01,
                                                   .target_error = 1e-3,
                                                   .slow = {{WorkerId{2}, 5}},
                                                   .compute = 200us});
  EXPECT_EQ(result.summary.stop_reason, "target");
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
  EXPECT_EQ(result.summary.stop_reason, "target");
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
  const auto result = train(Logistic::random(1, 3, 5), {.workers = 5, .batch = 1, .epochs = 4});
  EXPECT_EQ(result.summary.gradients, 12u);
  EXPECT_THAT(result.summary.iterations, Each(12));
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, EpochsCountEverySampleOnceEach) {
  const auto result = train(Logistic::random(1), {.workers = 3, .batch = 8, .epochs = 2});
  EXPECT_EQ(result.summary.samples, 200u);
}

TEST(Train, StopsAtItsTimeLimit) {
  const auto result = train(Quadratic::random(1), {.workers = 2, .eta = 1e-6, .max_time = 100ms});
  EXPECT_EQ(result.summary.stop_reason, "max-time");
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_GE(result.summary.wall_seconds, 0.1);
}

TEST(Train, AStopFromOutsideDrainsCleanly) {
  std::stop_source source;
  const auto result = train(Quadratic::random(1),
                            {.workers = 4,
                             .topology = "ring",
                             .eta = 1e-6,
                             .max_time = 60s,
                             .stop = source.get_token(),
                             .report_every = 1ms},
                            {[&](const Progress<double>& p) {
                              if (p.gradients > 1000) source.request_stop();
                              return Flow::go_on;
                            }});
  EXPECT_EQ(result.summary.stop_reason, "interrupted");
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_LT(result.summary.wall_seconds, 50);
}

TEST(Train, AStopEndsTheSleepOfASlowWorker) {
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    source.request_stop();
  });
  const auto result =
      train(Quadratic::random(1),
            {.workers = 2, .gradients = {5}, .compute = 100s, .stop = source.get_token()});
  EXPECT_LT(result.summary.wall_seconds, 50);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, ASlowWorkerSlowsNobodyElse) {
  const auto result = train(
      Quadratic::random(1),
      {.workers = 2, .eta = 0.001, .max_time = 1s, .slow = {{WorkerId{1}, 10}}, .compute = 1ms});
  const auto& made = result.summary.gradients_by_worker;
  EXPECT_GT(made[0], 4 * made[1]);
  EXPECT_GT(made[1], 0u);
}

/// Becomes NaN at a chosen gradient.
class Poisoned final : public Objective<float> {
 public:
  std::size_t dimension() const override { return 3; }
  double gradient(std::span<const float>, Rows, std::span<float> g) const override {
    g[0] = g[1] = g[2] = 0.1f;
    if (++calls_ == 50) g[2] = NAN;
    return 1;
  }

 private:
  mutable std::atomic<int> calls_{0};
};

TEST(Train, DivergenceIsThrownAndSaysWhere) {
  const std::string what = test::message_of<DivergenceError>(
      [] { train(Poisoned(), {.workers = 3, .gradients = {100}}); });
  EXPECT_THAT(what, AllOf(HasSubstr("diverged: worker "), HasSubstr("coordinate 2 is nan"),
                          HasSubstr("try a step size of 0.001 or less")));
}

TEST(Train, AfterDivergenceEveryReplicaIsStillWhole) {
  const Poisoned objective;
  const auto result =
      run_training<float>(objective, {.workers = 4, .topology = "ring", .gradients = {100}});
  EXPECT_NE(result.failure, nullptr);
  EXPECT_EQ(result.summary.stop_reason, "diverged");
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_TRUE(std::isfinite(result.model[2]));
}

TEST(Train, AStepSizeThatIsTooLargeIsFoundOut) {
  EXPECT_THROW(train(Quadratic::random(1), {.workers = 2, .eta = 2, .gradients = {100'000}}),
               DivergenceError);
}

class Throwing final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 1; }
  double gradient(std::span<const double>, Rows, std::span<double> g) const override {
    if (++calls_ > 20) throw std::runtime_error("the disk with the samples is gone");
    g[0] = 1;
    return 1;
  }

 private:
  mutable std::atomic<int> calls_{0};
};

TEST(Train, WhatTheObjectiveThrowsReachesTheCaller) {
  const std::string what = test::message_of<std::runtime_error>(
      [] { train(Throwing(), {.workers = 3, .topology = "ring", .gradients = {100}}); });
  EXPECT_EQ(what, "the disk with the samples is gone");
}

TEST(Train, AFailingFinalEvaluationStillLeavesTheAudit) {
  const Throwing objective;
  const auto result =
      run_training<double>(objective, {.workers = 3, .topology = "ring", .gradients = {100}});
  EXPECT_NE(result.failure, nullptr);
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_TRUE(std::isnan(result.summary.loss));
}

class WrongStart final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 3; }
  std::vector<double> start() const override { return {1}; }
  double gradient(std::span<const double>, Rows, std::span<double>) const override { return 0; }
};

TEST(Train, RefusesAnObjectiveOrATraceThatDoesNotFit) {
  EXPECT_THROW(train(WrongStart()), InputError);
  const test::TemporaryDirectory directory;
  TraceWriter trace(directory.file("t"), 2);
  EXPECT_THROW(train(Quadratic::random(1), {.workers = 4, .trace = &trace}), InputError);
}

TEST(Train, StopsWithoutImprovement) {
  const auto result =
      train(Quadratic::random(1),
            {.workers = 2, .eta = 0.01, .max_time = 60s, .in_flight = 4, .report_every = 5ms},
            {stop_without_improvement<double>(0.2)});
  EXPECT_EQ(result.summary.stop_reason, "callback");
  EXPECT_LT(result.summary.loss, 1e-20);
}

TEST(Train, CallbacksSeeProgressAndAModelAndCanStop) {
  std::size_t calls = 0, models = 0;
  double last_seconds = 0;
  const auto result =
      train(Quadratic::random(1), {.workers = 2, .eta = 1e-4, .max_time = 30s, .report_every = 2ms},
            {[&](const Progress<double>& p) {
              ++calls;
              EXPECT_GT(p.seconds, last_seconds);
              last_seconds = p.seconds;
              models += p.model.size() == 10 ? 1 : 0;
              return models >= 3 ? Flow::stop : Flow::go_on;
            }});
  EXPECT_EQ(result.summary.stop_reason, "callback");
  EXPECT_GE(calls, 3u);
}

TEST(Train, ACallbackThatThrowsEndsTheRunCleanly) {
  EXPECT_THROW(
      train(Quadratic::random(1), {.workers = 2, .eta = 1e-4, .max_time = 30s, .report_every = 2ms},
            {[](const Progress<double>&) -> Flow { throw std::logic_error("mine"); }}),
      std::logic_error);
}

/// Worker-less gate: one gradient takes until the test lets it go.
class Stuck final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 1; }
  double gradient(std::span<const double>, Rows, std::span<double> g) const override {
    g[0] = 0;
    std::unique_lock lock(mutex);
    if (++calls == 7) released.wait(lock, [this] { return open; });
    return 0;
  }
  mutable std::mutex mutex;
  mutable std::condition_variable released;
  mutable int calls = 0;
  mutable bool open = false;
};

void expect_one_name(const TrainOptions& base) {
  const Stuck objective;
  std::string said;
  TrainOptions options = base;
  options.report_every = 10ms;
  options.stall_after = 100ms;
  options.warn = [&](const std::string& line) {
    said = line;
    const std::lock_guard lock(objective.mutex);
    objective.open = true;
    objective.released.notify_all();
  };
  const auto result = train(objective, options);
  EXPECT_THAT(said,
              ::testing::MatchesRegex("nothing has moved for .* s: waiting for worker [012], which "
                                      "computes its gradient [0-9]+"));
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, AStallNamesTheWorkerThatIsWaitedFor) {
  expect_one_name({.workers = 3, .gradients = {5}});
}

TEST(Train, AStallDoesNotNameWorkersThatOnlyWaitForRoom) {
  expect_one_name({.workers = 3, .gradients = {500}, .in_flight = 2});
}

TEST(Train, RefusesImpossibleOptions) {
  const auto refusal = [](const TrainOptions& options) {
    return test::message_of<InputError>([&] { train(Quadratic::random(1), options); });
  };
  EXPECT_THAT(refusal({.workers = 0}), HasSubstr("at least one worker"));
  EXPECT_THAT(refusal({.eta = -1}), HasSubstr("lr = -1"));
  EXPECT_THAT(refusal({.eta = NAN}), HasSubstr("lr = nan"));
  EXPECT_THAT(refusal({.workers = 3, .gradients = {1, 2}}), HasSubstr("2 numbers for 3 workers"));
  EXPECT_THAT(refusal({.epochs = -1}), HasSubstr("epochs = -1"));
  EXPECT_THAT(refusal({.slow = {{WorkerId{5}, 2}}}), HasSubstr("worker 5 does not exist"));
  EXPECT_THAT(refusal({.slow = {{WorkerId{0}, 0.5}}}), HasSubstr("must be 1 or more"));
  EXPECT_THAT(refusal({.in_flight = 1}), HasSubstr("at least 2"));
  EXPECT_THAT(refusal({.workers = 4, .topology = "ring", .relay = RelayMode::none}),
              HasSubstr("relay none"));
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
  const auto result = train(Softmax(read_idx_directory(directory.path())),
                            {.workers = 3, .eta = 0.2, .batch = 5, .epochs = 40});
  EXPECT_GT(*result.summary.accuracy, 0.95);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

}  // namespace
}  // namespace dasgd
