// Look-ahead in virtual time, where every delay is known.
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "dasgd/random/random.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

constexpr Nanoseconds unit = 1'000'000;  // that a gradient takes
const LookAhead full{LookAhead::Kind::fixed, 1};

/// f = (x^2 + 0.25 y^2) / 2, so L = 1, from (1, 1). With `noise` each of 512 samples adds a vector
/// of its own, whose mean is zero.
class Bowl final : public Objective<double> {
 public:
  explicit Bowl(double noise = 0) : noise_(noise > 0 ? 512 : 1, {0, 0}) {
    Random random(3, Purpose::test);
    for (std::size_t k = 0; k + 1 < noise_.size(); k += 2)
      for (std::size_t i = 0; i < 2; ++i)
        noise_[k + 1][i] = -(noise_[k][i] = noise * random.normal());
  }
  std::size_t dimension() const override { return 2; }
  std::size_t samples() const override { return noise_.size(); }
  std::vector<double> start() const override { return {1, 1}; }
  double gradient(std::span<const double> x, Rows rows, std::span<double> g) const override {
    if (points) points->push_back({x[0], x[1]});
    g[0] = x[0];
    g[1] = 0.25 * x[1];
    const double f = (x[0] * x[0] + 0.25 * x[1] * x[1]) / 2;
    for (const auto row : rows)
      for (std::size_t i = 0; i < 2; ++i) g[i] += noise_[row][i] / static_cast<double>(rows.size());
    return f;
  }
  double loss(std::span<const double> x) const override {
    return (x[0] * x[0] + 0.25 * x[1] * x[1]) / 2;
  }
  std::vector<std::array<double, 2>>* points = nullptr;  ///< at which gradients were asked for

 private:
  std::vector<std::array<double, 2>> noise_;
};

TrainOptions run_of(std::size_t workers, double eta, LookAhead ahead, std::uint32_t gradients) {
  TrainOptions options;
  options.workers = workers;
  options.eta = eta;
  options.look_ahead = ahead;
  options.gradients = {gradients};
  return options;
}

/// A gradient is there for others after so many further own ones.
VirtualWorld delayed(std::size_t steps) {
  VirtualWorld world;
  world.compute = TimeModel::constant(unit);
  world.apply = 0;
  world.latency =
      TimeModel::constant(steps == 0 ? 0 : static_cast<Nanoseconds>(steps) * unit - unit / 2);
  return world;
}

double distance_at_the_end(std::size_t n, double n_eta, std::size_t delay, LookAhead ahead) {
  const Bowl bowl;
  const auto gradients = static_cast<std::uint32_t>(60 * (delay + 4));
  TrainOptions options = run_of(n, n_eta / static_cast<double>(n), ahead, gradients);
  const auto result = run_simulation<double>(bowl, options, delayed(delay));
  if (result.failure) return INFINITY;
  return std::hypot(result.model[0], result.model[1]);
}

TEST(LookAheadInLockstep, ComputesAtTheIteratesOfGradientDescentWhateverTheDelay) {
  constexpr std::size_t n = 8;
  constexpr double n_eta = 0.8;
  for (const std::size_t delay : {0, 1, 2, 5, 16, 32}) {
    Bowl bowl;
    std::vector<std::array<double, 2>> points;
    bowl.points = &points;
    const std::uint32_t rounds = 80;
    run_simulation<double>(bowl, run_of(n, n_eta / n, full, rounds), delayed(delay));
    ASSERT_GE(points.size(), n * rounds);
    std::array<double, 2> x{1, 1};
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < 2; ++k)
          ASSERT_NEAR(points[round * n + i][k], x[k], 1e-9) << delay << ' ' << round << ' ' << i;
      x = {x[0] * (1 - n_eta), x[1] * (1 - 0.25 * n_eta)};
    }
  }
}

TEST(LookAheadInLockstep, IsStableAsFarAsGradientDescentIs) {
  for (const std::size_t delay : {0, 1, 4, 16, 32}) {
    EXPECT_LT(distance_at_the_end(16, 1.9, delay, full), 0.1) << delay;
    EXPECT_GT(distance_at_the_end(16, 2.1, delay, full), 10) << delay;
  }
}

// About pi / (2 D + 1) for 16 workers and D > 0: what look-ahead is for.
TEST(LookAheadInLockstep, WithoutItDelaysShrinkTheLargestStep) {
  const std::pair<std::size_t, double> largest[] = {{0, 1.995}, {1, 1.06}, {2, 0.67},
                                                    {4, 0.38},  {8, 0.20}, {16, 0.105}};
  for (const auto& [delay, n_eta] : largest) {
    EXPECT_LT(distance_at_the_end(16, 0.9 * n_eta, delay, {}), 1) << delay;
    EXPECT_GT(distance_at_the_end(16, 1.25 * n_eta, delay, {}), 1) << delay;
  }
}

std::string trace_of(const TrainOptions& given) {
  class Lines final : public TraceSink {
   public:
    std::size_t sources() const override { return 1; }
    void add(WorkerId, std::vector<TraceLine> lines, Nanoseconds) override {
      for (const TraceLine& line : lines) text += to_json(line);
    }
    std::exception_ptr failure() const override { return nullptr; }
    std::string text;
  } sink;
  TrainOptions options = given;
  options.trace = &sink;
  VirtualWorld world = delayed(2);
  world.compute = TimeModel::lognormal(unit, 0.5);
  const Bowl bowl(0.1);
  const auto result = run_simulation<double>(bowl, options, world);
  return sink.text + result.summary.replica_digest;
}

TEST(LookAheadOff, IsAlgorithm1ByteForByte) {
  TrainOptions paper = run_of(4, 0.01, {}, 50);
  paper.look_ahead.reset();
  paper.batch = 2;
  TrainOptions off = paper, zero = paper, ahead = paper;
  off.look_ahead = parse_look_ahead("off");
  zero.look_ahead = parse_look_ahead("0");
  ahead.look_ahead = full;
  EXPECT_EQ(trace_of(off), trace_of(zero));
  EXPECT_NE(trace_of(off), trace_of(ahead));
  EXPECT_EQ(trace_of(ahead), trace_of(ahead));
}

TEST(LookAheadAlone, IsPlainSgdBitForBit) {
  TrainOptions alone = run_of(1, 0.01, {}, 200);
  alone.batch = 2;
  TrainOptions ahead = alone, automatic = alone;
  ahead.look_ahead = full;
  automatic.look_ahead = parse_look_ahead("auto");
  EXPECT_EQ(trace_of(alone), trace_of(ahead));
  EXPECT_EQ(trace_of(alone), trace_of(automatic));
}

struct Place {
  const char* name;
  VirtualWorld world;
  std::vector<SlowWorker> slow = {};
  const char* topology = "full";
};

std::vector<Place> places() {
  VirtualWorld lognormal = delayed(0), thin = delayed(0);
  lognormal.compute = TimeModel::lognormal(unit, 0.5);
  lognormal.latency = TimeModel::constant(unit / 1000);
  thin.nic =
      60 * 16e3;  // 16 bytes of numbers and as many again around them: a quarter of a gradient
  return {{"equal", delayed(1)},
          {"lognormal", lognormal},
          {"straggler", delayed(1), {{WorkerId{7}, 10}}},
          {"slow links", delayed(1), {}, "ring"},
          {"latency", delayed(10)},
          {"thin", thin}};
}

// The number begun before an own one and applied after it, of a whole run.
TEST(LookAheadEstimate, IsCloseToWhatWasMissing) {
  for (const Place& place : places()) {
    TrainOptions options = run_of(8, 1e-4, full, 300);
    options.slow = place.slow;
    options.topology = place.topology;
    const Bowl bowl;
    const auto summary = run_simulation<double>(bowl, options, place.world).summary;
    ASSERT_TRUE(summary.look_ahead) << place.name;
    EXPECT_NEAR(summary.look_ahead->missing_estimated / summary.look_ahead->missing_true, 1, 0.1)
        << place.name << ' ' << summary.look_ahead->missing_true;
    EXPECT_GT(summary.look_ahead->gap, 0) << place.name;
  }
}

// A worker that shares a core computes for a time slice, and then the core belongs to another: the
// gradient that it was computing takes as long as the others' slices.
TEST(LookAheadEstimate, IsNoHigherThanWhatWasMissingWhereWorkersComputeInTimeSlices) {
  VirtualWorld world = delayed(0);
  world.compute = TimeModel::custom([](std::size_t item, std::uint64_t index, Random&) {
    return (index + 7 * item) % 40 == 39 ? 120 * unit : unit;
  });
  world.latency = TimeModel::constant(unit / 1000);
  const Bowl bowl;
  for (const std::size_t workers : {4, 8}) {
    const auto figures =
        run_simulation<double>(bowl, run_of(workers, 1e-4, full, 1000), world).summary.look_ahead;
    EXPECT_LT(figures->missing_estimated, figures->missing_true) << workers;
  }
}

// Half of the pairs that knew nothing of each other: the staleness of a drained causal run.
TEST(LookAheadEstimate, WhatWasMissingIsTheMeanStaleness) {
  const Bowl bowl;
  const auto summary = run_simulation<double>(bowl, run_of(8, 1e-4, full, 300), delayed(1)).summary;
  EXPECT_NEAR(summary.look_ahead->missing_true, summary.staleness.S_avg, 0.02);
}

TEST(LookAheadSlowWorker, DoesNotMoveTheMinimum) {
  std::vector<double> losses;
  for (const double factor : {1.0, 10.0, 100.0}) {
    Bowl bowl(0.5);
    TrainOptions options = run_of(4, 0.01, full, 1);
    options.gradients.clear();
    options.total_gradients = 20'000;
    options.batch = 4;
    options.rule.schedule.kind = Schedule::Kind::cooldown;
    if (factor > 1) options.slow = {{WorkerId{3}, factor}};
    const auto result = run_simulation<double>(bowl, options, delayed(1));
    losses.push_back(result.summary.loss);
  }
  for (const double loss : losses) EXPECT_LT(loss, 1e-3);  // f at the start is 0.625
}

TEST(LookAheadNoise, TheFloorIsNoHigherWithAutomaticLambda) {
  const auto floor = [](LookAhead ahead) {
    double sum = 0;
    constexpr int seeds = 8;
    for (int seed = 1; seed <= seeds; ++seed) {
      const Bowl bowl(1);
      TrainOptions options = run_of(8, 0.004, ahead, 1500);
      options.batch = 1;
      options.seed = static_cast<std::uint64_t>(seed);
      sum += run_simulation<double>(bowl, options, delayed(2)).summary.loss;
    }
    return sum / seeds;
  };
  const double without = floor({});
  EXPECT_LT(floor(parse_look_ahead("auto")), 1.25 * without);
}

TEST(LookAheadSummary, ReportsLambdaAndWhyNothingIsCertified) {
  const Bowl bowl;
  TrainOptions options = run_of(3, 0.01, parse_look_ahead("0.5"), 50);
  options.smoothness = 1;
  const auto summary = run_simulation<double>(bowl, options, delayed(1)).summary;
  EXPECT_EQ(summary.lambda, std::vector<double>(3, 0.5));
  EXPECT_EQ(summary.step->certified, std::nullopt);
  EXPECT_NE(summary.step->certified_why.find("look-ahead"), std::string::npos);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_TRUE(summary.replicas_identical);
}

}  // namespace
}  // namespace dasgd
