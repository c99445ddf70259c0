// Real workers on links that misbehave: nothing is lost, and the trace is sound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/runtime/train.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

struct Traced {
  RunSummary summary;
  std::vector<TraceLine> trace;
};

Traced record_trace(TrainOptions options) {
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), options.workers);
  options.trace = &writer;
  const auto result = train(Quadratic::random(1), options);
  writer.finish();
  return {result.summary, read_trace(directory.file("t")).applications};
}

TEST(RealChaos, NothingIsLostAndTheTraceIsSound) {
  for (const char* topology : {"full", "ring", "star"}) {
    TrainOptions options{.workers = 4, .topology = topology, .eta = 1e-3, .gradients = {150}};
    options.chaos.delay = options.chaos.reorder = options.chaos.duplicate = options.chaos.drop =
        0.2;
    options.chaos.delay_up_to = 2'000'000;
    options.chaos.partitions = {{{WorkerId{0}}, {WorkerId{1}}, 1'000'000, 10'000'000}};
    const auto [summary, trace] = record_trace(options);
    EXPECT_TRUE(summary.audit_is_clean()) << topology;
    EXPECT_EQ(summary.gradients, 600u);
    EXPECT_GT(summary.copies_dropped, 0u);
    const TraceCheck check = check_trace(trace);
    EXPECT_TRUE(check.ok()) << topology << ": " << check.violations.front().what;
    EXPECT_DOUBLE_EQ(check.staleness.S_hat_avg, summary.staleness.S_hat_avg);
  }
}

TEST(RealChaos, APausedWorkerDoesNothingUntilItsPauseEnds) {
  TrainOptions options{.workers = 2, .eta = 1e-3, .gradients = {50}};
  options.chaos.pauses = {{WorkerId{1}, 0, 60'000'000}};
  const auto [summary, trace] = record_trace(options);
  EXPECT_TRUE(summary.audit_is_clean());
  for (const TraceLine& a : trace) EXPECT_GE(*a.time, a.worker == WorkerId{1} ? 60'000'000 : 0);
}

TEST(RealChaos, AStopEndsAPause) {
  TrainOptions options{.workers = 2, .eta = 1e-3};
  options.chaos.pauses = {{WorkerId{1}, 0, 3'600'000'000'000}};
  options.max_time = std::chrono::milliseconds(50);
  const auto result = train(Quadratic::random(1), options);
  EXPECT_EQ(result.summary.stop_reason, StopReason::max_time);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(RealChaos, RefusesWorkersThatAreNotThere) {
  TrainOptions options{.workers = 2};
  options.chaos.pauses = {{WorkerId{5}, 0, 1}};
  EXPECT_THAT(test::message_of<InputError>([&] { train(Quadratic::random(1), options); }),
              ::testing::HasSubstr("pause: worker 5 does not exist"));
}

}  // namespace
}  // namespace dasgd
