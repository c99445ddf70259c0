#include <cmath>
#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

#include "dasgd/dasgd.hpp"
#include "support/bad_memory.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

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
  EXPECT_EQ(result.summary.stop_reason, StopReason::diverged);
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

TEST(Train, WorkersWhoseModelsDifferAreNamedAndTheRunFails) {
  const test::BadMemory objective(worker_id(2));
  const auto result = run_training<double>(objective, {.workers = 3, .gradients = {20}});
  const RunSummary& summary = result.summary;
  EXPECT_TRUE(summary.replicas_compared);
  EXPECT_FALSE(summary.replicas_identical);
  EXPECT_FALSE(summary.audit_is_clean());
  ASSERT_EQ(summary.digest_of_all.size(), 3u);
  EXPECT_EQ(summary.digest_of_all[0].digest, summary.digest_of_all[1].digest);
  EXPECT_NE(summary.digest_of_all[0].digest, summary.digest_of_all[2].digest);
  ASSERT_NE(result.failure, nullptr);
  EXPECT_THAT(test::message_of<std::runtime_error>([&] { std::rethrow_exception(result.failure); }),
              AllOf(HasSubstr("the replicas differ: "), HasSubstr("worker 2 has ")));
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
  const ::testing::Matcher<std::string> names_one = ::testing::MatchesRegex(
      "no progress for .* s: waiting for worker [012], which computes its gradient [0-9]+");
  int lines = 0;
  options.warn = [&](const std::string& line) {
    const std::lock_guard lock(objective.mutex);
    if (objective.open) return;  // a busy machine stalls as well
    said = line;
    if (!::testing::Value(line, names_one) && ++lines < 600) return;
    objective.open = true;
    objective.released.notify_all();
  };
  const auto result = train(objective, options);
  EXPECT_THAT(said, names_one);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, AStallNamesTheWorkerThatIsWaitedFor) {
  expect_one_name({.workers = 3, .gradients = {5}});
}

TEST(Train, AStallDoesNotNameThoseWhoHaveAppliedWhatThereIs) {
  expect_one_name({.workers = 3, .gradients = {500}, .in_flight = 2});
}

// A second is more than the whole run takes.
TEST(Train, AStepAboveTheCertificateIsWarnedOfInAShortRunToo) {
  const Quadratic objective = Quadratic::random(1);
  for (const bool large : {false, true}) {
    std::vector<std::string> said;
    TrainOptions options{.workers = 2, .gradients = {5}, .report_every = 1h};
    options.smoothness = objective.known().smoothness;
    options.eta = (large ? 2 : 1e-9) / *options.smoothness;
    options.warn = [&](const std::string& line) { said.push_back(line); };
    run_training<double>(objective, options);
    ASSERT_EQ(said.size(), large ? 1u : 0u);
    if (large)
      EXPECT_THAT(said[0], AllOf(HasSubstr("the largest that is certified, without noise"),
                                 HasSubstr("this alone is no error")));
  }
}

TEST(Train, ATimeLimitBeyondAllTimeIsNone) {
  for (const auto limit :
       {std::chrono::nanoseconds::max(), std::chrono::nanoseconds(9'000'000'000'000'000'000)}) {
    const auto result = run_training<double>(
        Quadratic::random(1), {.workers = 2, .eta = 1e-3, .gradients = {50}, .max_time = limit});
    EXPECT_EQ(result.summary.stop_reason, StopReason::budget);
    EXPECT_EQ(result.summary.gradients, 100u);
  }
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
  EXPECT_THAT(refusal({.in_flight = 0}), HasSubstr("at least 1"));
  EXPECT_THAT(refusal({.total_gradients = 0}), HasSubstr("at least 1"));
  EXPECT_THAT(refusal({.workers = 4, .topology = "ring", .relay = RelayMode::none}),
              HasSubstr("relay none"));
}

}  // namespace
}  // namespace dasgd
