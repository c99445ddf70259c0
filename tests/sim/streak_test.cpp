// Applications without events of their own change nothing that is reported.
#include "dasgd/sim/streak.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

TEST(Streak, CompletesInTheOrderOfEventsAtOneInstant) {
  const Streak streak{.worker = 3, .begin = 100, .each = 10, .count = 4};
  const auto at = [](Nanoseconds time, EventKind kind, std::uint64_t rank) {
    return QueuedEvent::make(time, kind, rank, 0);
  };
  EXPECT_EQ(streak.complete_after(at(100, EventKind::look, 3)), 0u);
  EXPECT_EQ(streak.begun_after(at(100, EventKind::look, 3)), 1u);
  EXPECT_EQ(streak.complete_after(at(120, EventKind::own_finished, 9)), 1u);
  EXPECT_EQ(streak.complete_after(at(120, EventKind::foreign_finished, 2)), 1u);
  EXPECT_EQ(streak.complete_after(at(120, EventKind::foreign_finished, 3)), 2u);
  EXPECT_EQ(streak.begun_after(at(120, EventKind::arrival, 77)), 2u);
  EXPECT_EQ(streak.begun_after(at(120, EventKind::look, 2)), 2u);
  EXPECT_EQ(streak.begun_after(at(120, EventKind::look, 4)), 3u);
  EXPECT_EQ(streak.begun_after(QueuedEvent::last_at(500)), 4u);
  EXPECT_EQ(streak.complete_after(QueuedEvent::last_at(500)), 4u);
}

TEST(Streak, EndsWithWhatIsUnderWayWhenItIsCut) {
  Streak streak{.worker = 0, .begin = 100, .each = 10, .count = 4};
  streak.cut_after(QueuedEvent::make(115, EventKind::look, 5, 5));
  EXPECT_EQ(streak.end(), 120);
}

TEST(Streak, TellsWhatAWorkerDoesThatCatchesUp) {
  const auto at = [](Nanoseconds time) { return QueuedEvent::last_at(time); };
  Streak streak = Streak::of(worker_id(2), 100, 10, 4);
  const auto pass = [&](Nanoseconds time) {
    const Streak::Passed now = streak.pass(at(time));
    return std::tuple(now.ends_first, now.at_once, now.begins_another);
  };
  EXPECT_EQ(pass(105), std::tuple(false, 0u, true));
  EXPECT_EQ(pass(108), std::tuple(false, 0u, false));
  EXPECT_EQ(pass(125), std::tuple(true, 1u, true));
  EXPECT_EQ(streak.pass(at(200)).time, 140);
  EXPECT_TRUE(streak.is_over());
  EXPECT_EQ(pass(300), std::tuple(false, 0u, false));
}

TEST(Streak, EndsWithTheFirstThatIsCompleteAtATime) {
  for (const auto& [time, count] : {std::pair(101, 1), {110, 1}, {111, 2}, {140, 4}, {999, 4}}) {
    Streak streak = Streak::of(worker_id(0), 100, 10, 4);
    streak.end_with_the_first_after(time);
    EXPECT_EQ(streak.count, static_cast<std::size_t>(count)) << time;
  }
}

TEST(Streak, EndsBeforeTheClockDoes) {
  constexpr Nanoseconds most = std::numeric_limits<Nanoseconds>::max();
  const Streak streak = Streak::of(worker_id(0), most - 25, 10, 4);
  EXPECT_EQ(streak.count, 2u);
  EXPECT_EQ(streak.end(), most - 5);
}

struct Reported {
  RunSummary summary;
  std::string figures;
};

// A trace shows every model, so that each application has its event.
Reported simulated(TrainOptions options, const VirtualWorld& world, bool with_trace) {
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), 1);
  FigureLog figures(64);
  options.figures = &figures;
  if (with_trace) options.trace = &writer;
  Reported reported{simulate(Quadratic::random(1), options, world).summary, ""};
  writer.finish();
  for (const RunFigures& row : figures.rows()) reported.figures += metrics_line(row);
  return reported;
}

void expect_same(const Reported& one, const Reported& other, const std::string& what) {
  const RunSummary &a = one.summary, &b = other.summary;
  EXPECT_EQ(one.figures, other.figures) << what;
  EXPECT_EQ(a.replica_digest, b.replica_digest) << what;
  EXPECT_EQ(a.iterations, b.iterations) << what;
  EXPECT_EQ(a.time, b.time) << what;
  EXPECT_EQ(a.virtual_seconds, b.virtual_seconds) << what;
  EXPECT_EQ(a.folded, b.folded) << what;
  EXPECT_EQ(a.stop_reason, b.stop_reason) << what;
  EXPECT_EQ(a.staleness.S_avg, b.staleness.S_avg) << what;
  EXPECT_EQ(a.staleness.S_hat_avg, b.staleness.S_hat_avg) << what;
  EXPECT_EQ(a.staleness.W, b.staleness.W) << what;
}

TEST(Streaks, ChangeNothingThatIsReported) {
  for (std::uint32_t number = 0; number < 60; ++number) {
    Random random(5, Purpose::scenario, number);
    const auto one_of = [&](auto... values) {
      const std::common_type_t<decltype(values)...> all[] = {values...};
      return all[random.below(sizeof...(values))];
    };
    TrainOptions options{.workers = one_of(std::size_t{2}, std::size_t{5}, std::size_t{16})};
    options.topology = one_of("full", "full", "ring", "star", "exponential");
    options.eta = 1e-4;
    options.gradients = {4 + random.below(20)};
    options.seed = number;
    if (random.below(3) == 0) options.in_flight = 1 + random.below(3);
    if (random.below(2)) options.slow = {{WorkerId{1}, 2.0 + random.below(40)}};
    if (random.below(4) == 0)
      options.max_time = std::chrono::nanoseconds(500 + 1'000 * random.below(9));
    VirtualWorld world;
    world.compute = random.below(2) ? TimeModel::lognormal(1'000, 0.5) : TimeModel::constant(1'000);
    world.latency = random.below(3) ? TimeModel::constant(100) : TimeModel::exponential(300);
    world.apply = one_of(1, 10, 100, 400);
    if (random.below(4) == 0) world.chaos.reorder = world.chaos.duplicate = 0.2;
    expect_same(simulated(options, world, false), simulated(options, world, true),
                "scenario " + std::to_string(number));
  }
}

// Whose streak is cut has applied what waited sooner than its streak would have ended. A pause at
// the end of time leaves each application its event.
TEST(Streaks, DoNotOutlastTheRunWhereTheyAreCut) {
  for (const std::uint64_t seed : {3346u, 3655u, 5439u, 8651u, 8863u}) {
    Random random(6, Purpose::scenario, static_cast<std::uint32_t>(seed));
    TrainOptions options{.workers = 3 + random.below(3), .eta = 1e-4};
    options.total_gradients = 20 + random.below(300);
    options.seed = seed;
    options.in_flight = 5 + random.below(50);
    options.slow = {{WorkerId{1}, 2.0 + random.below(100)}, {WorkerId{2}, 2.0 + random.below(100)}};
    VirtualWorld world{.compute = TimeModel::constant(1'000), .latency = TimeModel::constant(100)};
    world.apply = 100 + static_cast<Nanoseconds>(random.below(600));
    const auto with_streaks = simulate(Quadratic::random(1), options, world).summary;
    world.chaos.pauses = {{WorkerId{0}, 1'000'000'000'000, 1}};
    const auto without = simulate(Quadratic::random(1), options, world).summary;
    EXPECT_GT(with_streaks.folded, 0u) << seed;
    EXPECT_EQ(with_streaks.virtual_seconds, without.virtual_seconds) << seed;
    EXPECT_EQ(with_streaks.replica_digest, without.replica_digest) << seed;
  }
}

}  // namespace
}  // namespace dasgd
