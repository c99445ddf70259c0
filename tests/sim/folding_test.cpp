// Workers that are behind, in virtual time: what waits for them is folded, and nothing else
// changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/lab/experiments/parabola.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "support/effort.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::Each;

struct Scenario {
  TrainOptions options;
  VirtualWorld world;
};

Scenario draw_scenario(std::uint32_t number) {
  Random random(11, Purpose::scenario, number);
  const auto share = [&] { return random.below(3) == 0 ? 0.3 * random.uniform() : 0.0; };
  const std::vector<std::string> shapes{"full", "ring",        "directed-ring",
                                        "star", "exponential", "torus:2x3"};
  Scenario s;
  s.options.workers = 6;
  s.options.topology = shapes[random.below(6)];
  if (s.options.topology != "full" || random.below(2))
    s.options.relay = random.below(2) ? RelayMode::arrival : RelayMode::apply;
  s.options.eta = 1e-3;
  s.options.in_flight = 1 + random.below(3);
  if (random.below(2)) {
    s.options.total_gradients = 60 + random.below(60);
  } else {
    s.options.gradients = {10 + random.below(10)};
  }
  s.options.slow = {{worker_id(random.below(6)), 1.0 + random.below(100)}};
  s.options.seed = number;
  s.world.compute = TimeModel::lognormal(1000, 0.5);
  s.world.latency = TimeModel::exponential(300);
  s.world.apply = random.below(100);
  Chaos& chaos = s.world.chaos;
  chaos.delay = share();
  chaos.delay_up_to = 20'000;
  chaos.reorder = share();
  chaos.duplicate = share();
  chaos.drop = share();
  chaos.resend_after = 2'000;
  chaos.pauses = {{worker_id(random.below(6)), random.below(5'000), random.below(50'000)}};
  if (random.below(3) == 0)
    chaos.partitions = {{{WorkerId{0}, WorkerId{1}}, {WorkerId{2}, WorkerId{3}}, 1'000, 20'000}};
  return s;
}

// Nothing lost, nothing twice, equal digests, and every S as the referee recomputes it.
TEST(Folding, RandomScenariosKeepEveryPromise) {
  const test::TemporaryDirectory directory;
  std::uint64_t folded = 0;
  for (std::uint32_t number = 0; number < 800; number += test::sampled_one_in) {
    Scenario s = draw_scenario(number);
    TraceWriter writer(directory.file("t"), 1);
    s.options.trace = &writer;
    const auto result = simulate(Quadratic::random(1), s.options, s.world);
    writer.finish();
    folded += result.summary.folded;
    ASSERT_TRUE(result.summary.audit_is_clean()) << "scenario " << number;
    ASSERT_THAT(result.summary.iterations, Each(result.summary.gradients)) << number;
    const TraceCheck check = check_trace(read_trace(directory.file("t")).applications);
    ASSERT_TRUE(check.ok()) << number << ": " << check.violations.front().what;
    ASSERT_EQ(check.staleness.S_max, result.summary.staleness.S_max) << number;
    ASSERT_EQ(check.staleness.S_hat_max, result.summary.staleness.S_hat_max) << number;
    ASSERT_DOUBLE_EQ(check.staleness.S_avg, result.summary.staleness.S_avg) << number;
    ASSERT_DOUBLE_EQ(check.staleness.S_hat_avg, result.summary.staleness.S_hat_avg) << number;
  }
  EXPECT_GT(folded, 1'000u) << "the scenarios do not fold enough to show anything";
}

// Beyond 64 workers t - s is taken for the staleness where delivery is causal: it has to be.
TEST(Folding, ManyWorkersThatRelayOnApplicationKeepTheOrderOfTheirLinks) {
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), 1);
  TrainOptions options{.workers = 66, .topology = "ring", .relay = RelayMode::apply, .eta = 1e-4};
  options.gradients = {6};
  options.in_flight = 1;
  options.slow = {{WorkerId{3}, 50}};
  options.trace = &writer;
  const auto result = simulate(Quadratic::random(1), options,
                               {.compute = TimeModel::uniform(1'000'000, 20'000'000),
                                .latency = TimeModel::constant(1'000'000),
                                .apply = 2'000'000});
  writer.finish();
  EXPECT_GT(result.summary.folded, 100u);
  const TraceCheck check = check_trace(read_trace(directory.file("t")).applications);
  ASSERT_TRUE(check.ok()) << check.violations.front().what;
  EXPECT_EQ(check.noncausal_applications, 0u);
}

TEST(Folding, IsTheSameOnAnyNumberOfCores) {
  for (const std::uint32_t number : {3u, 17u, 40u, 71u}) {
    Scenario s = draw_scenario(number);
    const auto one = simulate(Quadratic::random(1), s.options, s.world);
    s.world.threads = 3;
    const auto three = simulate(Quadratic::random(1), s.options, s.world);
    EXPECT_EQ(one.summary.replica_digest, three.summary.replica_digest);
    EXPECT_EQ(one.summary.folded, three.summary.folded);
    EXPECT_EQ(one.summary.virtual_seconds, three.summary.virtual_seconds);
  }
}

// One worker is paused nearly all the time: the others make what they make without it.
TEST(Folding, NobodyWaitsForAWorkerThatHangs) {
  TrainOptions options{.workers = 4, .eta = 1e-5, .max_time = std::chrono::milliseconds(1000)};
  options.in_flight = 2;
  VirtualWorld world{.compute = TimeModel::constant(1'000'000)};
  const auto equal = simulate(Quadratic::random(1), options, world);
  world.chaos.pauses = {{WorkerId{3}, 10'000'000, 980'000'000}};
  const auto paused = simulate(Quadratic::random(1), options, world);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_GE(paused.summary.gradients_by_worker[i], equal.summary.gradients_by_worker[i]);
  EXPECT_GT(paused.summary.folded, 2'000u);
  EXPECT_TRUE(paused.summary.audit_is_clean());
}

TEST(Folding, DoesNotHappenToEqualWorkers) {
  const auto result = simulate(Quadratic::random(1), {.workers = 8, .gradients = {500}}, {});
  EXPECT_EQ(result.summary.folded, 0u);
}

}  // namespace
}  // namespace dasgd
