#include "dasgd/virtual_time/observer.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/virtual_time/links.hpp"

namespace dasgd {
namespace {

constexpr Nanoseconds ms = 1'000'000;

TrainOptions small_run() {
  TrainOptions options{.workers = 4, .eta = 0.02};
  options.gradients = {60};
  return options;
}

TEST(Observer, ChangesNothingAndSeesModelsAsTheyAreThen) {
  const Quadratic problem = Quadratic::random(1);
  VirtualWorld world;
  world.compute = TimeModel::lognormal(10 * ms, 0.4);
  const auto alone = simulate(problem, small_run(), world);
  std::vector<double> losses;
  std::uint64_t last_gradients = 0;
  const Observer<double> observer{5 * ms, [&](const Instant<double>& instant) {
                                    EXPECT_EQ(instant.models.size(), 4u);
                                    if (instant.gradients == 0) {  // a step is seen when it is over
                                      for (const auto model : instant.models)
                                        EXPECT_EQ(model[0], 0.0);
                                    }
                                    losses.push_back(problem.loss(instant.models[0]));
                                    last_gradients = instant.gradients;
                                    return false;
                                  }};
  for (const unsigned threads : {1u, 3u}) {
    losses.clear();
    world.threads = threads;
    const auto seen = run_simulation<double>(problem, small_run(), world, &observer);
    EXPECT_EQ(seen.summary.replica_digest, alone.summary.replica_digest);
    EXPECT_EQ(seen.summary.staleness.S_avg, alone.summary.staleness.S_avg);
    EXPECT_GT(losses.size(), 100u);
    EXPECT_LT(losses.back(), losses.front());
    EXPECT_EQ(losses.back(), alone.summary.loss);
    EXPECT_EQ(last_gradients, 240u);
  }
}

TEST(Observer, EndsARun) {
  const Quadratic problem = Quadratic::random(1);
  const Observer<double> observer{
      1 * ms, [](const Instant<double>& instant) { return instant.time >= 123 * ms; }};
  const auto result = run_simulation<double>(problem, small_run(), {}, &observer);
  EXPECT_EQ(result.summary.stop_reason, StopReason::target);
  EXPECT_LT(*result.summary.virtual_seconds, 0.2);
  EXPECT_EQ(result.summary.lost, 0u);
}

// Thin cards: most of what was sent is still under way when the time is over.
TEST(Observer, ARunWhoseTimeIsOverEndsWithoutWhatIsUnderWay) {
  const Quadratic problem = Quadratic::random(1);
  VirtualWorld world;
  world.compute = TimeModel::constant(10 * ms);
  world.nic = static_cast<double>(problem.dimension() * sizeof(double)) * 50;
  TrainOptions options{.workers = 4, .eta = 0.001};
  options.max_time = std::chrono::seconds(1);
  std::vector<double> seen_times;
  const Observer<double> observer{100 * ms, [&](const Instant<double>& instant) {
                                    seen_times.push_back(static_cast<double>(instant.time) * 1e-9);
                                    return false;
                                  }};
  const auto alone = simulate(problem, options, world);
  const auto seen = run_simulation<double>(problem, options, world, &observer);
  EXPECT_GT(*alone.summary.virtual_seconds, 2);
  EXPECT_EQ(alone.summary.lost, 0u);
  EXPECT_EQ(seen.summary.stop_reason, StopReason::max_time);
  EXPECT_LT(*seen.summary.virtual_seconds, 1.1);
  EXPECT_EQ(seen.failure, nullptr);
  EXPECT_FALSE(seen.summary.staleness.W);
  ASSERT_FALSE(seen_times.empty());
  EXPECT_LE(seen_times.back(), 1);
}

TEST(Links, OfOneNodeShareItsCard) {
  Graph graph(3);
  graph.connect_both(WorkerId{0}, WorkerId{1});
  graph.connect_both(WorkerId{0}, WorkerId{2});
  VirtualWorld world;
  world.latency = TimeModel::constant(2 * ms);
  world.nic = 1e6;
  Links links(world, graph, 1);
  ASSERT_FALSE(links.uniform());
  // 1,000 bytes take a millisecond on a card; the second frame waits for the first.
  EXPECT_EQ(links.send(WorkerId{0}, 0, 1000, 0).first, 3 * ms);
  EXPECT_EQ(links.send(WorkerId{0}, 1, 1000, 0).first, 4 * ms);
  // Frames of two senders reach one receiver together: its card takes one after the other.
  EXPECT_EQ(links.send(WorkerId{1}, 0, 1000, 10 * ms).first, 13 * ms);
  EXPECT_EQ(links.send(WorkerId{2}, 0, 1000, 10 * ms).first, 14 * ms);
  EXPECT_EQ(links.send(WorkerId{1}, 0, 1000, 20 * ms).first, 23 * ms);
}

TEST(Links, AThinCardSlowsABroadcast) {
  const Quadratic problem = Quadratic::random(1);
  const auto staleness = [&](const char* topology, double nic) {
    TrainOptions options{.workers = 8, .topology = topology, .eta = 1e-3};
    options.gradients = {50};
    VirtualWorld world;
    world.nic = nic;
    return simulate(problem, options, world);
  };
  const auto thin = staleness("full", 5'000), wide = staleness("full", 1e9);
  EXPECT_GT(thin.summary.staleness.S_avg, wide.summary.staleness.S_avg * 2);
  EXPECT_GT(*thin.summary.virtual_seconds, *wide.summary.virtual_seconds);
  EXPECT_EQ(thin.summary.lost, 0u);
}

}  // namespace
}  // namespace dasgd
