#include "dasgd/problems/linear.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "dasgd/data/raw_data.hpp"

namespace dasgd {
namespace {

std::shared_ptr<const PreparedSamples> line_samples(std::size_t rows, double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<float> numbers;
  std::vector<double> targets;
  for (std::size_t r = 0; r < rows; ++r) {
    const double a = normal(random), b = normal(random);
    numbers.push_back(static_cast<float>(a));
    numbers.push_back(static_cast<float>(b));
    targets.push_back(100 + 30 * a - 20 * b + noise * normal(random));
  }
  RawData data{.path = "line"};
  data.shape = {2};
  data.inputs = std::make_shared<FloatRows>(std::move(numbers), 2);
  DataParts parts;
  parts[Part::train].data = std::make_shared<const RawData>(std::move(data));
  parts[Part::train].targets = std::make_shared<const std::vector<double>>(std::move(targets));
  return std::make_shared<PreparedSamples>(std::move(parts), PreparedSamples::Options{});
}

std::vector<double> full_gradient_at(const Linear& f, const std::vector<double>& x) {
  std::vector<double> gradient(f.dimension());
  f.full_gradient(x, gradient);
  return gradient;
}

TEST(LinearRegression, TheLeastSquaresHaveNoGradientAndTheLeastLoss) {
  const Linear f(line_samples(200, 5));
  const auto best = f.least_squares();
  ASSERT_TRUE(best);
  for (const double g : full_gradient_at(f, *best)) EXPECT_NEAR(g, 0, 1e-6);
  const KnownConstants known = f.known();
  EXPECT_NEAR(*known.least_loss, f.loss(*best), 1e-12);
  EXPECT_LT(*known.least_loss, f.loss(std::vector<double>(3, 0.1)));
}

TEST(LinearRegression, ItsGradientIsThatOfItsLoss) {
  for (const bool huber : {false, true}) {
    const Linear f(line_samples(40, 5), huber);
    const std::vector<double> x{0.3, -2.5, 0.7};
    const std::vector<double> gradient = full_gradient_at(f, x);
    for (std::size_t k = 0; k < x.size(); ++k) {
      constexpr double step = 1e-5;
      std::vector<double> up = x, down = x;
      up[k] += step;
      down[k] -= step;
      EXPECT_NEAR(gradient[k], (f.loss(up) - f.loss(down)) / (2 * step), 1e-5) << huber << k;
    }
  }
}

TEST(LinearRegression, LIsTheLargestSlopeOfTheGradient) {
  for (const bool huber : {false, true}) {
    const Linear f(line_samples(200, 5), huber);
    const double L = *f.known().smoothness;
    const std::vector<double> x{0.1, 0.2, 0.3};
    const std::vector<double> at = full_gradient_at(f, x);
    double steepest = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> y = x;
      y[k] += 0.01;
      const std::vector<double> there = full_gradient_at(f, y);
      double square = 0;
      for (std::size_t i = 0; i < 3; ++i) square += (there[i] - at[i]) * (there[i] - at[i]);
      steepest = std::max(steepest, std::sqrt(square) / 0.01);
    }
    EXPECT_LE(steepest, L * (1 + 1e-6)) << huber;
    EXPECT_GT(steepest, 0.3 * L) << huber;
  }
}

TEST(LinearRegression, ReportsMseInTheUnitsOfTheData) {
  const Linear f(line_samples(2000, 5));
  const auto figures = f.examine(*f.least_squares());
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_NEAR(*figures[0].mse, 25, 3);
  EXPECT_GT(*figures[0].r2, 0.97);
}

}  // namespace
}  // namespace dasgd
