#include "dasgd/sim/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/topology/builders.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<TraceLine> trace_of(TrainOptions options, const VirtualWorld& world) {
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), 1);
  options.eta = 1e-4;
  options.trace = &writer;
  simulate(Quadratic::random(1), options, world);
  writer.finish();
  return read_trace(directory.file("t")).applications;
}

bool everybody(WorkerId, WorkerId) { return true; }

TEST(Calibration, FindsTheTimesOfAKnownWorld) {
  const auto measured = measure(trace_of({.workers = 3, .gradients = {50}},
                                         {.compute = TimeModel::per_item({1'000, 1'700, 2'300}),
                                          .latency = TimeModel::constant(90),
                                          .apply = 7,
                                          .start = {0, 30, 500}}),
                                everybody);
  ASSERT_EQ(measured.compute.size(), 3u);
  EXPECT_THAT(measured.compute[0], Each(1'000));
  EXPECT_THAT(measured.compute[1], Each(1'700));
  EXPECT_THAT(measured.compute[2], Each(2'300));
  EXPECT_EQ(measured.apply, 7);
  EXPECT_NEAR(static_cast<double>(measured.latency), 90, 15) << "what the looks leave open";
  EXPECT_THAT(measured.start, ElementsAre(0, 30, 500));
}

TEST(Calibration, ReplayingWhatWasMeasuredRepeatsTheRun) {
  const TrainOptions options{.workers = 4, .gradients = {40}};
  const VirtualWorld world{.compute = TimeModel::lognormal(1'000'000, 0.5),
                           .latency = TimeModel::constant(20'000),
                           .apply = 300};
  const auto trace = trace_of(options, world);
  const auto measured = measure(trace, everybody);
  const auto again = trace_of(options, {.compute = TimeModel::replay(measured.compute),
                                        .latency = TimeModel::constant(measured.latency),
                                        .apply = measured.apply,
                                        .start = measured.start});
  const double S = check_trace(trace).staleness.S_avg;
  EXPECT_NEAR(check_trace(again).staleness.S_avg / S, 1, 0.02);
  EXPECT_NEAR(static_cast<double>(*again.back().time) / static_cast<double>(*trace.back().time), 1,
              0.001);
}

TEST(Calibration, TheWayOverOthersIsNoLatency) {
  const auto trace = trace_of({.workers = 6, .topology = "ring", .gradients = {60}},
                              {.compute = TimeModel::uniform(1'000, 5'000),
                               .latency = TimeModel::constant(400),
                               .apply = 5});
  const Graph ring = build_graph("ring", 6, 1);
  const auto measured =
      measure(trace, [&](WorkerId a, WorkerId b) { return ring.connected(a, b); });
  EXPECT_NEAR(static_cast<double>(measured.latency), 400, 60);
}

TEST(Calibration, NeedsTimes) {
  TraceLine timeless;
  timeless.line = 3;
  EXPECT_THAT(test::message_of<InputError>([&] { measure({timeless}, everybody); }),
              HasSubstr("line 3: has no time"));
}

}  // namespace
}  // namespace dasgd
