#include "dasgd/sim/residuals.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "dasgd/dasgd.hpp"
#include "dasgd/lab/experiments/parabola.hpp"
#include "support/random_execution.hpp"

namespace dasgd {
namespace {

using test::Names;
using Vector = std::vector<double>;

/// The gradients of an execution with numbers in them: integers, drawn.
std::map<GradientName, GradientPtr> with_numbers(const test::Execution& run, Random& random) {
  std::map<GradientName, GradientPtr> all;
  for (const test::Event& e : run.events) {
    if (e.worker != index(e.gradient->name.origin)) continue;
    auto g = std::make_shared<Gradient>(*e.gradient);
    g->update.resize<double>(2);
    g->update.shift = 0;
    for (auto& number : g->update.numbers<double>())
      number = (static_cast<std::int64_t>(random.below(2001)) - 1000) * (std::int64_t{1} << 50);
    all[g->name] = g;
  }
  return all;
}

TEST(Residuals, AreThoseOfTheDefinitionsInAnyOrderOfDelivery) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, Purpose::test, 13);
    const test::Execution run = test::draw_execution(
        seed, seed % 2 == 0 ? test::Delivery::any_gradient : test::Delivery::any_link);
    const auto gradients = with_numbers(run, random);
    const auto value = [&](GradientName name, std::size_t c) {
      return std::ldexp(static_cast<double>(gradients.at(name)->update.numbers<double>()[c]),
                        FixedPoint<double>::unit_exponent);
    };
    const auto sum = [&](const Names& names, bool absolute) {
      Vector total(2, 0.0);
      for (const GradientName& name : names)
        for (std::size_t c = 0; c < 2; ++c)
          total[c] += absolute ? std::fabs(value(name, c)) : value(name, c);
      return total;
    };
    const auto square = [](const Vector& v) { return v[0] * v[0] + v[1] * v[1]; };
    ResidualMeter<double> meter(run.workers, 2);
    std::vector<ResidualMeter<double>::Sums> expected(run.workers);
    for (const test::Event& e : run.events) {
      meter.applied(worker_id(e.worker), gradients.at(e.gradient->name));
      const Names& known = run.compute_sets.at(e.gradient->name);
      const Vector x = sum(e.before, false), y = sum(known, false);
      Names visited{e.gradient->name};
      expected[e.worker].distance += square({x[0] - y[0], x[1] - y[1]});
      expected[e.worker].over_S += square(sum(test::staleness_set(e.before, known), true));
      expected[e.worker].over_S_hat +=
          square(sum(test::loose_set(run, e.before, e.gradient->name, visited), true));
    }
    for (std::size_t i = 0; i < run.workers; ++i) {
      const auto& found = meter.sums()[i];
      EXPECT_NEAR(found.distance, expected[i].distance, 1e-9 * (1e-12 + expected[i].distance));
      EXPECT_NEAR(found.over_S, expected[i].over_S, 1e-9 * (1e-12 + expected[i].over_S));
      EXPECT_NEAR(found.over_S_hat, expected[i].over_S_hat,
                  1e-9 * (1e-12 + expected[i].over_S_hat));
      EXPECT_LE(found.distance, found.over_S * (1 + 1e-9));
      EXPECT_LE(found.over_S, found.over_S_hat * (1 + 1e-9));
    }
  }
}

TEST(Residuals, OfTheBurstBreakLemmasSevenAndEight) {
  VirtualWorld world;
  world.compute = TimeModel::per_item({1'500'000'000, 1'000'000'000, 1'000'000'000, 1'000'000'000});
  world.latency = TimeModel::constant(100'000'000);
  world.apply = 0;
  const TrainOptions options{.workers = 4,
                             .eta = 0.5,
                             .gradients = {69, 1, 1, 1},
                             .smoothness = 1,
                             .measure_gradients = true};
  const auto burst = run_simulation<double>(Parabola(), options, world);
  ASSERT_TRUE(burst.summary.residuals);
  const Residuals& found = *burst.summary.residuals;
  EXPECT_NEAR(found.lemma_7.mean, 0.25 * 14 / 72, 1e-9);
  EXPECT_NEAR(*found.lemma_7.bound, 0.25 / 144, 1e-9);
  EXPECT_NEAR(found.lemma_8.mean, 0.25 * 14 / 72, 1e-9);
  EXPECT_NEAR(*found.lemma_8.bound, 17.0 / 6 / 72 / 7, 1e-9);
  EXPECT_NEAR(found.distance, found.lemma_7.mean, 1e-9) << "all gradients of the burst are equal";
  EXPECT_GT(found.max_replica_distance, 0.5);
}

TEST(Residuals, HaveNoBoundsWithNoiseAndAreNotMeasuredOnThreads) {
  TrainOptions options{.workers = 2, .eta = 0.05, .batch = 10, .gradients = {20}};
  options.measure_gradients = true;
  const Logistic problem = Logistic::random(1);
  const auto noisy = run_simulation<double>(problem, options, {});
  ASSERT_TRUE(noisy.summary.residuals);
  EXPECT_FALSE(noisy.summary.residuals->lemma_7.bound);
  EXPECT_GT(noisy.summary.residuals->lemma_7.mean, 0);
  const auto real = run_training<double>(problem, options);
  EXPECT_FALSE(real.summary.residuals);
  EXPECT_FALSE(real.summary.residuals_why.empty());
}

}  // namespace
}  // namespace dasgd
