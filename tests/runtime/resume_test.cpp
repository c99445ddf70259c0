#include <condition_variable>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>

#include "dasgd/dasgd.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/runtime/boards/snapshot_board.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using Kind = RuleOptions::Kind;
using ::testing::HasSubstr;

/// A run that keeps all of its checkpoints, written and read again.
struct Recorded {
  std::vector<Checkpoint> checkpoints;
  TrainResult<double> result;
};

/// Another objective that takes its time while a run is past its first gradients and has kept no
/// checkpoint: a minute at most if no checkpoint ever comes, no time at all if it comes soon.
class Lingering final : public Objective<double> {
 public:
  explicit Lingering(const Objective<double>& inner) : inner_(inner) {}
  std::size_t dimension() const override { return inner_.dimension(); }
  std::size_t samples() const override { return inner_.samples(); }
  std::vector<double> start() const override { return inner_.start(); }
  double gradient(std::span<const double> x, Rows rows, std::span<double> g) const override {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    if (++computed_ > 500) kept_.wait_for(lock, 60ms, [this] { return is_kept_; });
    lock.unlock();
    return inner_.gradient(x, rows, g);
  }
  void kept() {
    const std::lock_guard lock(mutex_);
    is_kept_ = true;
    kept_.notify_all();
  }

 private:
  const Objective<double>& inner_;
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable kept_;
  mutable std::uint64_t computed_ = 0;
  bool is_kept_ = false;
};

template <typename Problem>
Recorded record(
    const Problem& problem, TrainOptions options, const std::function<void()>& kept = [] {}) {
  Recorded recorded;
  options.checkpoint.save = [&](Checkpoint checkpoint) {
    const std::string bytes = encode(checkpoint);
    recorded.checkpoints.push_back(decode(std::as_bytes(std::span(bytes))));
    kept();
  };
  recorded.result = train(problem, options);
  return recorded;
}

/// The same with a checkpoint before its end.
Recorded record_with_a_middle(const Objective<double>& problem, const TrainOptions& options) {
  Lingering lingering(problem);
  return record(lingering, options, [&] { lingering.kept(); });
}

class EveryRule : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Resume, EveryRule,
                         ::testing::Values(Kind::sgd, Kind::momentum, Kind::nesterov, Kind::adam),
                         [](const auto& info) { return to_string(info.param); });

TEST_P(EveryRule, OneWorkerGoesOnToTheBitFromAnyCheckpoint) {
  const Logistic problem = Logistic::random(1);
  Schedule falling;
  set_schedule(falling, "cosine");
  TrainOptions options{.workers = 1,
                       .eta = 0.01,
                       .rule = {.kind = GetParam(), .weight_decay = 1e-4, .schedule = falling},
                       .batch = 8,
                       .gradients = {2000}};
  options.checkpoint.every = 5ms;
  options.compute = 20us;
  const Recorded whole = record_with_a_middle(problem, options);
  ASSERT_GE(whole.checkpoints.size(), 2u);
  for (const Checkpoint& checkpoint : whole.checkpoints) {
    options.resume = &checkpoint;
    const auto resumed = train(problem, options);
    EXPECT_EQ(resumed.summary.replica_digest, whole.result.summary.replica_digest);
    EXPECT_EQ(resumed.summary.gradients, 2000u);
    EXPECT_EQ(resumed.summary.samples, whole.result.summary.samples);
    EXPECT_EQ(simulate(problem, options).summary.replica_digest,
              whole.result.summary.replica_digest)
        << "virtual time resumes as well";
  }
}

TEST(Resume, WhatRoundingToFewBitsHasLeftIsKept) {
  const Logistic problem = Logistic::random(1);
  TrainOptions options{.workers = 1, .eta = 0.01, .batch = 8, .gradients = {300}};
  options.message = MessageFormat::ternary;
  const Recorded first = record(problem, options);
  ASSERT_EQ(first.result.summary.residual_norms.size(), 1u);
  EXPECT_GT(first.result.summary.residual_norms[0], 0);
  options.gradients = {600};
  const auto whole = train(problem, options);
  options.resume = &first.checkpoints.back();
  EXPECT_EQ(train(problem, options).summary.replica_digest, whole.summary.replica_digest);
  // Fewer or more workers, or full messages: it is brought once all the same.
  for (const std::size_t workers : {1, 3}) {
    options.message = MessageFormat::full;
    options.workers = workers;
    const RunSummary s = train(problem, options).summary;
    EXPECT_TRUE(s.audit_is_clean());
    ASSERT_EQ(s.residual_norms.size(), 1u);  // of the worker that took it over
    EXPECT_LT(s.residual_norms[0], 1e-9);
  }
}

TEST_P(EveryRule, SeveralWorkersGoOnAndEndWithTheWholeBudgetAndACleanAudit) {
  const Logistic problem = Logistic::random(1);
  for (const char* topology : {"full", "ring"}) {
    TrainOptions options{.workers = 4,
                         .topology = topology,
                         .eta = 0.002,
                         .rule = {.kind = GetParam()},
                         .batch = 8,
                         .epochs = 200};
    options.checkpoint.every = 4ms;
    options.compute = 20us;
    const Recorded whole = record_with_a_middle(problem, options);
    ASSERT_GE(whole.checkpoints.size(), 2u);
    const Checkpoint& middle = whole.checkpoints[(whole.checkpoints.size() - 1) / 2];
    for (const std::size_t workers : {4, 2, 7, 1}) {
      options.resume = &middle;
      options.workers = workers;
      const Recorded resumed = record(problem, options);
      const RunSummary& s = resumed.result.summary;
      EXPECT_TRUE(s.audit_is_clean());
      ASSERT_TRUE(s.resumed.has_value());
      EXPECT_EQ(s.resumed->gradients, middle.gradients);
      std::uint64_t made = middle.gradients;
      for (const std::uint32_t count : s.gradients_by_worker) made += count;
      EXPECT_EQ(s.gradients, made);
      EXPECT_GE(s.samples, 200u * 100u);
      EXPECT_LT(s.samples, 200u * 100u + 8) << "beyond the budget is the rest of a batch";
      const Checkpoint& last = resumed.checkpoints.back();
      EXPECT_EQ(last.gradients, s.gradients);
      EXPECT_EQ(last.samples, s.samples);
      EXPECT_EQ(last.legs.size(), 2u);
      EXPECT_EQ(last.legs[0].size() + last.legs[1].size(), s.gradients);
      EXPECT_GT(last.seconds, middle.seconds);
    }
  }
}

TEST(Resume, ACheckpointIsConsistentByItself) {
  // With one fixed gradient of 1 per step, x is minus eta times the number of gradients in the set.
  struct Slope final : Objective<double> {
    std::size_t dimension() const override { return 1; }
    double gradient(std::span<const double>, Rows, std::span<double> g) const override {
      g[0] = 1;
      return 0;
    }
  };
  TrainOptions options{.workers = 5, .topology = "ring", .eta = 0.5, .gradients = {4000}};
  options.checkpoint.every = 1ms;
  const Recorded run = record_with_a_middle(Slope(), options);
  ASSERT_GE(run.checkpoints.size(), 2u);
  for (const Checkpoint& c : run.checkpoints) {
    HostReplica<double> replica(std::vector<double>{0});
    options.resume = &c;
    restore(options, replica);
    EXPECT_EQ(replica.x()[0], -0.5 * static_cast<double>(c.gradients));
    std::uint64_t done = 0;
    for (const WorkerState& worker : c.workers) done += worker.data.done();
    EXPECT_EQ(done, c.gradients);
  }
}

TEST(SnapshotBoard, TheEndOfAWorkerDoesNotReplaceWhatBelongsToACheckpoint) {
  const auto memory = [](int k) { return CarryOver{{}, Bytes(1, std::byte(k))}; };
  SnapshotBoard board(1);
  board.ask();
  ASSERT_TRUE(board.wanted(WorkerId{0}) && board.claim_replica());
  board.give_replica({}, GradientSet(1), 0);
  board.give_carry_over(WorkerId{0}, memory(1));
  board.give_carry_over(WorkerId{0}, memory(2));  // it ends before the checkpoint is made
  const auto snapshot = board.wait({}, 1h);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->carry_overs[0].objective, memory(1).objective);
  EXPECT_EQ(board.carry_overs()[0].objective, memory(2).objective);
  board.ask();
  EXPECT_EQ(board.carry_overs()[0].objective, memory(2).objective);
}

// Its workers' oracles remember which batches they were asked for.
struct Remembering final : Objective<double> {
  struct Own final : Oracle<double> {
    explicit Own(std::size_t& inherited) : states(inherited) {}
    double gradient(ComputePoint<double>&, const Batch& batch, std::span<double> g) override {
      g[0] = 1;
      batches.push_back(batch.number);
      return 0;
    }
    Bytes state() const override {
      const auto bytes = std::as_bytes(std::span(batches));
      return {bytes.begin(), bytes.end()};
    }
    void restore(std::span<const Bytes> from) override {
      states = from.size();
      batches.resize(from[0].size() / sizeof(std::uint64_t));
      std::memcpy(batches.data(), from[0].data(), from[0].size());
    }
    std::vector<std::uint64_t> batches;
    std::size_t& states;
  };
  std::size_t dimension() const override { return 1; }
  double gradient(std::span<const double>, Rows, std::span<double>) const override { return 0; }
  std::unique_ptr<Oracle<double>> make_oracle(WorkerId) const override {
    return std::make_unique<Own>(states);
  }
  mutable std::size_t states = 0;  // that the last worker was given
};

TEST(Resume, AWorkersOracleGoesOnAndBatchesKeepTheirNumbers) {
  const Remembering problem;
  TrainOptions options{.workers = 2, .eta = 0.5, .gradients = {40}, .compute = 100us};
  options.checkpoint.every = 1ms;
  const Recorded first = record(problem, options);
  const auto memory_of = [](const Checkpoint& c, std::size_t worker) {
    return c.workers[worker].carry_over.objective;
  };
  std::vector<std::uint64_t> all(80);
  std::iota(all.begin(), all.end(), 0u);
  const Checkpoint& end = first.checkpoints.back();
  options.resume = &end;
  options.gradients = {80};
  const Recorded second = record(problem, options);
  EXPECT_EQ(problem.states, 1u);
  const auto bytes = std::as_bytes(std::span(all));
  for (const std::size_t worker : {0, 1})
    EXPECT_EQ(memory_of(second.checkpoints.back(), worker), Bytes(bytes.begin(), bytes.end()));
  options.workers = 3;
  record(problem, options);
  EXPECT_EQ(problem.states, 2u) << "those of both workers before";
}

TEST(Resume, TheTraceOfALegIsATraceOfItsOwn) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.workers = 3, .eta = 0.001, .gradients = {500}};
  options.checkpoint.every = 1ms;
  options.compute = 10us;
  const Recorded whole = record(Quadratic::random(1), options);
  TraceWriter trace(directory.file("trace.jsonl"), 3);
  options.trace = &trace;
  options.resume = &whole.checkpoints.front();
  const auto result = train(Quadratic::random(1), options);
  trace.finish();
  const TraceCheck check = check_trace(read_trace(directory.file("trace.jsonl")).applications);
  EXPECT_TRUE(check.ok());
  EXPECT_EQ(check.gradients, result.summary.gradients - whole.checkpoints.front().gradients);
}

TEST(Resume, AFinishedRunHasNothingLeftAndCanBeMadeLonger) {
  TrainOptions options{.workers = 2, .eta = 0.001, .gradients = {50}};
  const Recorded first = record(Quadratic::random(1), options);
  ASSERT_EQ(first.checkpoints.size(), 1u) << "the one at the end";
  options.resume = &first.checkpoints.back();
  const auto nothing = train(Quadratic::random(1), options);
  EXPECT_EQ(nothing.summary.replica_digest, first.result.summary.replica_digest);
  EXPECT_EQ(nothing.summary.gradients, 100u);
  options.gradients = {80};
  EXPECT_EQ(train(Quadratic::random(1), options).summary.gradients, 160u);
}

TEST(Resume, TimeLimitsCountTheWholeRun) {
  TrainOptions options{.workers = 2, .eta = 1e-6, .max_time = 50ms};
  Recorded first = record(Quadratic::random(1), options);
  Checkpoint& last = first.checkpoints.back();
  last.seconds = 3600;
  options.resume = &last;
  options.max_time = 1h;
  const auto result = train(Quadratic::random(1), options);
  EXPECT_EQ(result.summary.stop_reason, StopReason::max_time);
  EXPECT_GE(result.summary.wall_seconds, 3600);
}

TEST(Resume, RefusesAModelOfAnotherShape) {
  const Recorded first = record(Quadratic::random(1), {.gradients = {5}});
  TrainOptions options;
  options.resume = &first.checkpoints.back();
  EXPECT_THAT(test::message_of<InputError>([&] { train(Logistic::random(1), options); }),
              HasSubstr("the checkpoint holds a model of 10 numbers"));
}

TEST(Resume, ACheckpointThatCannotBeKeptIsAWarningNotAFailure) {
  TrainOptions options{.workers = 2, .eta = 0.001, .gradients = {50}};
  options.checkpoint.save = [](const Checkpoint&) { throw std::runtime_error("no room"); };
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& line) { warnings.push_back(line); };
  EXPECT_TRUE(train(Quadratic::random(1), options).summary.audit_is_clean());
  EXPECT_THAT(warnings, ::testing::ElementsAre(HasSubstr("no room")));
}

TEST(Resume, ADiskThatStaysFullIsReportedOnceAndAtTheEnd) {
  TrainOptions options{.workers = 1, .eta = 1e-4, .gradients = {10'000'000}};
  std::stop_source source;
  options.stop = source.get_token();
  options.checkpoint.every = 1ms;
  int saved = 0;
  options.checkpoint.save = [&](const Checkpoint&) {
    if (++saved == 9) source.request_stop();
    if (saved != 4 && saved != 5) throw std::runtime_error("no room");
  };
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& line) { warnings.push_back(line); };
  EXPECT_TRUE(train(Quadratic::random(1), options).summary.audit_is_clean());
  EXPECT_THAT(warnings,
              ::testing::ElementsAre(HasSubstr("no room; the run continues"),
                                     HasSubstr("can be written again"),
                                     HasSubstr("no room; the run continues"),
                                     HasSubstr("no room; the run ends without its last")));
}

TEST(Resume, ASlowWorkerHoldsNoCheckpointUp) {
  // Worker 1 computes one gradient for as long as the run lasts.
  TrainOptions options{.workers = 2, .eta = 1e-4, .gradients = {100'000, 1}, .compute = 20us};
  options.slow = {{WorkerId{1}, 1e9}};
  std::stop_source source;
  options.stop = source.get_token();
  options.checkpoint.every = 2ms;
  std::atomic<int> saved = 0;
  options.checkpoint.save = [&](const Checkpoint&) {
    if (++saved == 2) source.request_stop();
  };
  EXPECT_TRUE(train(Quadratic::random(1), options).summary.audit_is_clean());
  EXPECT_GE(saved, 2);
}

}  // namespace
}  // namespace dasgd
