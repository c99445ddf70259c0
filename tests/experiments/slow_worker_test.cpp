#include "dasgd/lab/experiments/slow_worker.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dasgd/problems/quadratic.hpp"

namespace dasgd {
namespace {

using ::testing::HasSubstr;

class SlowWorkerExperiment : public ::testing::Test {
 protected:
  static std::vector<SlowWorkerRun> run(unsigned threads) {
    SlowWorkerPlan plan{
        .factors = {1, 10}, .seeds = {1, 2, 3}, .etas = {0.002, 0.1}, .target_error = 1e-6};
    plan.threads = threads;
    return run_slow_worker(
        [](std::uint64_t seed) { return std::make_unique<Quadratic>(Quadratic::random(seed)); },
        plan, [](std::size_t, std::size_t) {});
  }
};

TEST_F(SlowWorkerExperiment, IterationsDoNotDependOnTheSlowFactorAtASmallStep) {
  const auto points = summarise(run(2));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_NEAR(points[1].iterations[0].mean / points[0].iterations[0].mean, 1, 0.005);
  EXPECT_GT(points[1].seconds[0].mean / points[0].seconds[0].mean, 1.5) << "time does rise";
  EXPECT_GT(points[3].iterations[0].mean / points[2].iterations[0].mean, 1.05)
      << "at a large step the invariance ends";
  EXPECT_EQ(points[1].S_max, 11);
}

TEST_F(SlowWorkerExperiment, BeginsWithASingleWorker) {
  const SlowWorkerPlan plan{.factors = {0, 1, 10}, .seeds = {1}, .target_error = 1e-6};
  const auto points = summarise(run_slow_worker(
      [](std::uint64_t seed) { return std::make_unique<Quadratic>(Quadratic::random(seed)); }, plan,
      [](std::size_t, std::size_t) {}));
  EXPECT_EQ(points[0].S_hat_max, 0);
  EXPECT_EQ(points[0].iterations.size(), 1u);
  EXPECT_EQ(points[1].iterations.size(), 2u);
  EXPECT_THAT(expected_and_measured(points),
              HasSubstr("S_hat_max = x = 0, 1, 10; here it is 0, 3, 11"));
}

// A pause of a real worker may be the largest staleness of a run, whatever x is.
TEST_F(SlowWorkerExperiment, DrawsRealRunsOverXAndVirtualOnesOverStaleness) {
  auto points = summarise(run(2));
  EXPECT_THAT(to_svg("quadratic", points), HasSubstr("S_hat_max, measured"));
  for (SlowWorkerPoint& p : points) p.way = "threads";
  EXPECT_THAT(to_svg("quadratic", points), HasSubstr("x, times slower"));
}

TEST_F(SlowWorkerExperiment, TakesFewerIterationsThanTheSecondFormPromises) {
  SlowWorkerPlan plan{.factors = {0, 1, 10}, .seeds = {1, 2}, .target_error = 1e-6};
  plan.gradient_bound = [](const Objective<double>&) { return 10.0; };
  const auto points = summarise(run_slow_worker(
      [](std::uint64_t seed) { return std::make_unique<Quadratic>(Quadratic::random(seed)); }, plan,
      [](std::size_t, std::size_t) {}));
  for (const SlowWorkerPoint& p : points) {
    EXPECT_GT(p.predicted_2, p.iterations[0].mean) << "x " << p.factor;
    EXPECT_GT(p.first_form, 0);
    EXPECT_LT(p.first_form, 1);
  }
  EXPECT_TRUE(std::isnan(points[0].psi_2)) << "nothing is stale: the printed rate is 0";
  const double S = std::sqrt(points[2].S_hat_avg * points[2].S_hat_max);
  EXPECT_NEAR(points[2].psi_2 / points[2].predicted_2, 4 * 4 * 0.002 * S * 3 / 7, 0.001)
      << "4 L r0 S / mean against 7 r0 / (3 eta mean)";
  EXPECT_THAT(predicted_and_measured(points), HasSubstr("T measured"));
}

TEST_F(SlowWorkerExperiment, DoesNotDependOnTheNumberOfCores) {
  EXPECT_EQ(to_csv(run(1)), to_csv(run(3)));
}

TEST_F(SlowWorkerExperiment, WritesCsvJsonAndAPicture) {
  const auto runs = run(2);
  const std::string csv = to_csv(runs);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 13);
  const auto json = nlohmann::json::parse(to_json(summarise(runs)));
  EXPECT_EQ(json.size(), 4u);
  EXPECT_TRUE(json[0].contains("eta_over_published_eta_2"));
  const std::string svg = to_svg("quadratic", summarise(runs));
  EXPECT_THAT(svg, HasSubstr("<polygon"));
  EXPECT_THAT(svg, HasSubstr("where the invariance ends"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

}  // namespace
}  // namespace dasgd
