#include "dasgd/sim/simulate.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/lab/experiments/parabola.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "dasgd/topology/builders.hpp"
#include "reference.hpp"
#include "support/effort.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The bytes of the trace of a simulation.
template <typename Problem>
std::string trace_of(const Problem& problem, TrainOptions options, const VirtualWorld& world) {
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), 1);
  options.trace = &writer;
  simulate(problem, options, world);
  writer.finish();
  return test::read_text(directory.file("t"));
}

TEST(Simulate, ATinyRunByHand) {
  // Worker 0 takes 3, worker 1 takes 5; latency 1, apply 0.
  const auto trace = trace_of(
      Quadratic::random(1), {.workers = 2, .eta = 0.01, .gradients = {2, 1}},
      {.compute = TimeModel::per_item({3, 5}), .latency = TimeModel::constant(1), .apply = 0});
  EXPECT_EQ(
      trace,
      R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"time":3,"start":0,"S":0,"S_hat":0})"
      "\n"
      R"({"ev":"apply","worker":1,"step":0,"origin":1,"seq":0,"origin_step":0,"time":5,"start":0,"S":0,"S_hat":0})"
      "\n"
      R"({"ev":"apply","worker":1,"step":1,"origin":0,"seq":0,"origin_step":0,"time":5,"S":1,"S_hat":1})"
      "\n"
      R"({"ev":"apply","worker":0,"step":1,"origin":0,"seq":1,"origin_step":1,"time":6,"start":3,"S":0,"S_hat":0})"
      "\n"
      R"({"ev":"apply","worker":0,"step":2,"origin":1,"seq":0,"origin_step":0,"time":6,"S":2,"S_hat":2})"
      "\n"
      R"({"ev":"apply","worker":1,"step":2,"origin":0,"seq":1,"origin_step":1,"time":7,"S":1,"S_hat":1})"
      "\n");
}

TEST(Simulate, AgreesWithASimulatorWrittenFromTheContractAlone) {
  for (std::uint32_t scenario = 0; scenario < 300; scenario += test::sampled_one_in) {
    Random random(5, Purpose::test, scenario);
    const std::size_t n = 1 + random.below(7);
    const std::vector<std::string> kinds{"full", "ring", "directed-ring", "star", "exponential"};
    const std::string topology = kinds[random.below(5)];
    const Graph graph = build_graph(topology, n, 1);
    test::ReferenceSetup setup;
    setup.latency = random.below(4);  // small numbers, so that many things happen at once
    setup.apply = random.below(3);
    setup.relay = random.below(2) ? RelayMode::arrival : RelayMode::apply;
    if (graph.is_full() && random.below(2)) setup.relay = RelayMode::none;
    std::vector<Nanoseconds> compute;
    for (std::size_t i = 0; i < n; ++i) {
      setup.compute.push_back(1 + random.below(6));
      setup.start.push_back(random.below(5));
      setup.gradients.push_back(random.below(12));
    }
    const auto expected = test::reference_simulation(graph, setup);

    const test::TemporaryDirectory directory;
    TraceWriter writer(directory.file("t"), 1);
    TrainOptions options{.workers = n,
                         .topology = topology,
                         .relay = setup.relay,
                         .eta = 1e-4,
                         .gradients = setup.gradients};
    options.trace = &writer;
    simulate(Quadratic::random(1), options,
             {.compute = TimeModel::per_item(setup.compute),
              .latency = TimeModel::constant(setup.latency),
              .apply = setup.apply,
              .start = setup.start});
    writer.finish();
    const TraceFile trace = read_trace(directory.file("t"));
    std::vector<test::ReferenceEvent> found;
    for (const TraceLine& a : trace.applications)
      found.push_back({index(a.worker), a.step, a.name, a.origin_step, *a.time});
    ASSERT_TRUE(found == expected) << "scenario " << scenario << " " << topology << " n " << n;
    const TraceCheck check = check_trace(trace.applications);
    ASSERT_TRUE(found.empty() || check.ok()) << scenario << ": " << check.violations.front().what;
  }
}

TEST(Simulate, TheSameSeedGivesTheSameBytesOnAnyNumberOfCores) {
  const Logistic problem = Logistic::random(1);
  VirtualWorld world{.compute = TimeModel::lognormal(1'000'000, 0.7),
                     .latency = TimeModel::exponential(200'000)};
  world.chaos.duplicate = world.chaos.drop = world.chaos.reorder = 0.1;
  const TrainOptions options{
      .workers = 6, .topology = "ring", .eta = 0.05, .batch = 10, .gradients = {60}};
  const std::string once = trace_of(problem, options, world);
  EXPECT_EQ(trace_of(problem, options, world), once);
  VirtualWorld parallel = world;
  parallel.threads = 4;
  EXPECT_EQ(trace_of(problem, options, parallel), once);
  EXPECT_EQ(simulate(problem, options, parallel).summary.replica_digest,
            simulate(problem, options, world).summary.replica_digest);
  TrainOptions other = options;
  other.seed = 2;
  EXPECT_NE(trace_of(problem, other, world), once);
}

TEST(Simulate, OneWorkerIsPlainGradientDescentLikeARealRun) {
  const Quadratic q = Quadratic::random(3);
  const auto result = simulate(q, {.workers = 1, .eta = 0.05, .gradients = {200}});
  std::vector<double> x = q.start(), g(10);
  for (int i = 0; i < 200; ++i) {
    q.full_gradient(x, g);
    for (std::size_t c = 0; c < 10; ++c) x[c] -= 0.05 * g[c];
  }
  for (std::size_t c = 0; c < 10; ++c) EXPECT_NEAR(result.model[c], x[c], 1e-14);
}

TEST(Simulate, ASlowWorkerRaisesTheMaximumButNotTheAverage) {
  for (const double slow : {2.0, 5.0, 10.0, 50.0}) {
    const auto result =
        simulate(Quadratic::random(1),
                 {.workers = 2, .eta = 0.002, .target_error = 1e-6, .slow = {{WorkerId{1}, slow}}});
    EXPECT_EQ(result.summary.stop_reason, StopReason::target);
    EXPECT_NEAR(result.summary.staleness.S_avg, 1, 0.4) << slow;
    EXPECT_GE(result.summary.staleness.S_max, slow) << slow;
    EXPECT_LE(result.summary.staleness.S_max, slow + 2) << slow;
  }
}

TEST(Simulate, TheBurstThatBreaksTheoremOne) {
  const auto result =
      simulate(Parabola(), {.workers = 4, .eta = 0.5, .gradients = {69, 1, 1, 1}},
               {.compute = TimeModel::per_item({1'500'000, 1'000'000, 1'000'000, 1'000'000}),
                .latency = TimeModel::constant(100'000),
                .apply = 0});
  EXPECT_DOUBLE_EQ(result.summary.staleness.S_hat_avg, 6.0 / 72);
  EXPECT_EQ(result.summary.staleness.S_hat_max, 3u);
}

TEST(Simulate, PausesAndPartitionsHoldThingsUpAndHeal) {
  VirtualWorld world{
      .compute = TimeModel::constant(1000), .latency = TimeModel::constant(10), .apply = 1};
  world.chaos.pauses = {{WorkerId{1}, 2'000, 50'000}};
  world.chaos.partitions = {{{WorkerId{0}}, {WorkerId{2}}, 0, 80'000}};
  const auto result =
      simulate(Quadratic::random(1), {.workers = 3, .eta = 0.001, .gradients = {20}}, world);
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_GE(*result.summary.virtual_seconds, 80e-6);
  EXPECT_THAT(result.summary.iterations, Each(60));
}

TEST(Simulate, LinksWithABandwidthSerialise) {
  VirtualWorld world{
      .compute = TimeModel::constant(1'000), .latency = TimeModel::constant(0), .apply = 0};
  world.bandwidth = 1e6;  // a frame of 144 bytes takes 144 us
  TrainOptions options{.workers = 4, .topology = "ring", .eta = 0.001, .gradients = {10}};
  options.relay = RelayMode::arrival;
  const auto result = simulate(Quadratic::random(1), options, world);
  // Every link carries the gradients of two of three others, and its own.
  EXPECT_GT(*result.summary.virtual_seconds, 20 * 144e-6);
}

// The first goes at once; what is made meanwhile is one message, and so is what is made after.
TEST(Simulate, WhatWaitsForALinkBecomesOneMessage) {
  VirtualWorld world{
      .compute = TimeModel::constant(1'000), .latency = TimeModel::constant(0), .apply = 0};
  world.bandwidth = 1e6;
  const auto result =
      simulate(Quadratic::random(1), {.workers = 2, .eta = 0.001, .gradients = {10}}, world);
  EXPECT_EQ(result.summary.messages_sent, (std::vector<std::uint64_t>{2, 2}));
}

TEST(Simulate, DivergenceIsFoundWhereItHappens) {
  for (const unsigned threads : {1u, 3u}) {
    VirtualWorld world;
    world.threads = threads;
    EXPECT_THROW(
        simulate(Quadratic::random(1), {.workers = 3, .eta = 5, .gradients = {10'000}}, world),
        DivergenceError);
  }
}

TEST(Simulate, RefusesAWorldThatDoesNotFit) {
  const auto refusal = [](const VirtualWorld& world) {
    return test::message_of<InputError>(
        [&] { simulate(Quadratic::random(1), {.workers = 3}, world); });
  };
  EXPECT_THAT(refusal({.compute = TimeModel::per_item({1, 2})}),
              HasSubstr("2 values for 3 workers"));
  EXPECT_THAT(refusal({.start = {1}}), HasSubstr("start has 1 values"));
  VirtualWorld bad;
  bad.chaos.drop = 1;
  EXPECT_THAT(refusal(bad), HasSubstr("drop = 1"));
  VirtualWorld nobody;
  nobody.chaos.pauses = {{WorkerId{9}, 0, 1}};
  EXPECT_THAT(refusal(nobody), HasSubstr("worker 9 does not exist"));
}

/// A scenario is drawn from its number; the failing one is printed as a command.
TEST(Simulate, AThousandRandomScenariosLoseNothing) {
  for (std::uint32_t scenario = 0; scenario < 1000; scenario += test::sampled_one_in) {
    Random random(11, Purpose::scenario, scenario);
    const std::size_t n = 2 + random.below(6);
    const std::vector<std::string> kinds{"full", "ring", "directed-ring", "star", "exponential"};
    const std::string topology = kinds[random.below(5)];
    const std::uint32_t gradients = 1 + random.below(12);
    VirtualWorld world{.compute = TimeModel::exponential(1'000'000),
                       .latency = TimeModel::uniform(1'000, 2'000'000),
                       .apply = static_cast<Nanoseconds>(random.below(100'000))};
    world.chaos.reorder = random.below(2) * 0.3;
    world.chaos.duplicate = random.below(2) * 0.3;
    world.chaos.drop = random.below(2) * 0.3;
    world.chaos.delay = random.below(2) * 0.3;
    world.chaos.delay_up_to = 5'000'000;
    if (random.below(3) == 0)
      world.chaos.pauses = {{worker_id(random.below(2)), 1'000'000, 5'000'000}};
    if (random.below(3) == 0)
      world.chaos.partitions = {{{WorkerId{0}}, {WorkerId{1}}, 500'000, 4'000'000}};
    const std::string replay =
        "dasgd simulate --model quadratic --lr 0.0001 --compute exponential:1ms --latency "
        "uniform:1us:2ms --seed " +
        std::to_string(scenario) + " --workers " + std::to_string(n) + " --topology " + topology +
        " --gradients " + std::to_string(gradients) + " --apply " + std::to_string(world.apply) +
        "ns" + (world.chaos.reorder > 0 ? " --reorder 0.3" : "") +
        (world.chaos.duplicate > 0 ? " --duplicate 0.3" : "") +
        (world.chaos.drop > 0 ? " --drop 0.3" : "") +
        (world.chaos.delay > 0 ? " --delay 0.3:5ms" : "") +
        (world.chaos.pauses.empty()
             ? ""
             : " --pause " + std::to_string(index(world.chaos.pauses[0].worker)) + ":1ms:5ms") +
        (world.chaos.partitions.empty() ? "" : " --partition '0|1:500us:4ms'");
    const test::TemporaryDirectory directory;
    TraceWriter writer(directory.file("t"), 1);
    TrainOptions options{.workers = n,
                         .topology = topology,
                         .eta = 1e-4,
                         .gradients = {gradients},
                         .seed = scenario};
    options.trace = &writer;
    const auto result = simulate(Quadratic::random(scenario), options, world);
    writer.finish();
    ASSERT_TRUE(result.summary.audit_is_clean()) << replay;
    const TraceCheck check = check_trace(read_trace(directory.file("t")).applications);
    ASSERT_TRUE(check.ok()) << replay << "\n" << check.violations.front().what;
    ASSERT_DOUBLE_EQ(check.staleness.S_hat_avg, result.summary.staleness.S_hat_avg) << replay;
    ASSERT_EQ(check.staleness.W, result.summary.staleness.W) << replay;
  }
}

TEST(Simulate, ThreeHundredWorkersThatHearOutOfOrderEnd) {
  TrainOptions options{
      .workers = 300, .topology = "full", .relay = RelayMode::none, .eta = 1e-6, .gradients = {4}};
  const auto result =
      simulate(Quadratic::random(1), options, {.latency = TimeModel::uniform(0, 200'000'000)});
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_GT(result.summary.noncausal_applications, 50'000u);
  EXPECT_GT(result.summary.staleness.S_max, 100u);
  EXPECT_FALSE(result.summary.staleness.S_hat_known);
}

}  // namespace
}  // namespace dasgd
