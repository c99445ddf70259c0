#include "dasgd/advice/constants.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/data/rows/libsvm.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "support/questionnaire.hpp"
#include "support/temporary_directory.hpp"
#include "support/unknown.hpp"

namespace dasgd {
namespace {

using test::Unknown;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

TEST(Constants, TheEstimateOfLFindsTheClosedFormOfAQuadratic) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Quadratic q = Quadratic::random(seed);
    const std::vector<std::vector<double>> points{q.start()};
    const Smoothness exact = measure_smoothness<double>(q, points, 1);
    const Smoothness estimate = measure_smoothness<double>(Unknown(q), points, 1);
    EXPECT_TRUE(exact.closed_form);
    EXPECT_FALSE(estimate.closed_form);
    EXPECT_THAT(estimate.how, HasSubstr("estimate"));
    EXPECT_NEAR(estimate.value, exact.value, 0.03 * exact.value);
    EXPECT_LE(estimate.value, exact.value * 1.001);
  }
}

TEST(Constants, TheVarianceIsThatOfAllMiniBatches) {
  const Logistic problem = Logistic::random(3, 40, 5);
  const std::vector<std::vector<double>> points{problem.start()};
  const auto found = measure_constants<double>(problem, points, {.batch = 1});
  std::vector<double> mean(5), g(5);
  problem.full_gradient(points[0], mean);
  double exact = 0;
  for (std::uint32_t row = 0; row < 40; ++row) {
    problem.gradient(points[0], std::vector{row}, g);
    for (std::size_t i = 0; i < 5; ++i) exact += (g[i] - mean[i]) * (g[i] - mean[i]) / 40;
  }
  EXPECT_NEAR(found.sigma2.value, exact, 0.5 * exact);
  EXPECT_THAT(exact, AllOf(Ge(found.sigma2.low * 0.8), Le(found.sigma2.high * 1.2)));
  EXPECT_GT(found.sigma2.samples, 1u);
  EXPECT_EQ(measure_constants<double>(problem, points, {.batch = 0}).sigma2.value, 0);
}

TEST(Constants, TheDistanceIsFromAKnownLowerBound) {
  const Quadratic q = Quadratic::random(1);
  const std::vector<std::vector<double>> points{q.start(), q.optimum()};
  const auto c = measure_constants<double>(q, points, {});
  EXPECT_NEAR(c.r0.value, q.loss(q.start()) - q.loss(q.optimum()), 1e-12);
  EXPECT_NEAR(measure_constants<double>(q, points, {.least_loss = -1}).r0.value,
              q.loss(q.start()) + 1, 1e-12);
  EXPECT_THROW(measure_constants<double>(q, points, {.least_loss = q.loss(q.start())}), InputError);
  const auto blind = measure_constants<double>(Unknown(q), points, {});
  EXPECT_THAT(blind.r0.how, HasSubstr("too small"));
  EXPECT_FALSE(std::isfinite(blind.r0.high));
}

TEST(Constants, LOfSparseRowsAgreesWithALongPowerIteration) {
  const test::TemporaryDirectory directory;
  const Logistic problem(read_libsvm(directory.write("made", test::questionnaire(3000).text)));
  const LabelledRows& rows = problem.data();
  std::vector<double> v(rows.dimension, 1.0), image(rows.dimension);
  double lambda = 0;
  for (int round = 0; round < 200; ++round) {
    double norm = 0;
    for (const double c : v) norm += c * c;
    for (double& c : v) c /= std::sqrt(norm);
    std::fill(image.begin(), image.end(), 0.0);
    for (std::size_t r = 0; r < rows.rows(); ++r) {
      double product = 0;
      for (std::size_t k = rows.row_start[r]; k < rows.row_start[r + 1]; ++k)
        product += rows.values[k] * v[rows.columns[k]];
      for (std::size_t k = rows.row_start[r]; k < rows.row_start[r + 1]; ++k)
        image[rows.columns[k]] += product * rows.values[k];
    }
    lambda = 0;
    for (std::size_t i = 0; i < v.size(); ++i) lambda += v[i] * image[i];
    std::swap(v, image);
  }
  EXPECT_NEAR(*problem.known().smoothness, lambda / (4.0 * static_cast<double>(rows.rows())),
              0.01 * *problem.known().smoothness);
}

}  // namespace
}  // namespace dasgd
