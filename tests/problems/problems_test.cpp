#include <Eigen/Dense>
#include <cmath>
#include <gtest/gtest.h>

#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/problems/error_window.hpp"
#include "dasgd/problems/largest_eigenvalue.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/problems/softmax.hpp"
#include "gradient_check.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd {
namespace {

// Power iteration stands still between eigenvalues that are almost as large as the largest.
TEST(LargestEigenvalue, IsFoundBesideManyThatAreAlmostAsLarge) {
  for (const double others : {0.9975, 0.9965, 0.5}) {
    std::size_t products = 0;
    const auto diagonal = [&](std::span<const double> v, std::span<double> out) {
      for (std::size_t i = 0; i < v.size(); ++i) {
        const double spread = 1e-4 * static_cast<double>(i % 7);
        out[i] = v[i] * (i == 500 ? 1.0 : others - spread);
      }
      ++products;
    };
    EXPECT_NEAR(largest_eigenvalue(1000, diagonal), 1, 1e-9) << others;
    EXPECT_LT(products, 100u);
  }
  const auto zero = [](std::span<const double>, std::span<double> out) {
    std::ranges::fill(out, 0.0);
  };
  EXPECT_EQ(largest_eigenvalue(3, zero), 0);
}

TEST(Quadratic, IsThePapersInstance) {
  for (std::uint64_t seed : {1, 2, 3}) {
    const Quadratic q = Quadratic::random(seed);
    ASSERT_EQ(q.dimension(), 10u);
    using Matrix = Eigen::Matrix<double, 10, 10, Eigen::RowMajor>;
    const auto singular =
        Eigen::JacobiSVD<Eigen::MatrixXd>(Eigen::Map<const Matrix>(q.system().a.data()))
            .singularValues();
    EXPECT_NEAR(singular.maxCoeff(), 2, 1e-12);
    EXPECT_NEAR(singular.minCoeff(), 1, 1e-12);
    EXPECT_NEAR(*q.known().smoothness, 4, 1e-10);
  }
}

TEST(Quadratic, GradientMatchesLossAndVanishesAtTheOptimum) {
  const Quadratic q = Quadratic::random(5);
  test::expect_gradient_matches_loss(q, 1e-5, 1e-8);
  std::vector<double> gradient(10);
  q.full_gradient(q.optimum(), gradient);
  EXPECT_LT(l2_norm<double>(gradient), 1e-13);
  EXPECT_LE(test::largest_slope(q, 200), *q.known().smoothness);
}

TEST(Quadratic, SolvesARectangularFile) {
  const Quadratic q(LinearSystem{3, 2, {1, 0, 0, 2, 1, 1}, {1, 2, 3}});
  test::expect_gradient_matches_loss(q, 1e-5, 1e-8);
}

TEST(Logistic, IsThePapersInstance) {
  const Logistic f = Logistic::random(1);
  EXPECT_EQ(f.samples(), 100u);
  EXPECT_EQ(f.dimension(), 20u);
  EXPECT_NEAR(f.loss(f.start()), std::log(2), 1e-12);
  EXPECT_GT(*f.known().smoothness, 0.3);
  EXPECT_LT(*f.known().smoothness, 0.8);
}

TEST(Logistic, GradientMatchesLoss) {
  const Logistic f = Logistic::random(2);
  test::expect_gradient_matches_loss(f, 1e-5, 1e-8);
  EXPECT_LE(test::largest_slope(f, 200), *f.known().smoothness);
}

TEST(Logistic, SmoothnessIsTheLargestEigenvalueOfTheGramMatrix) {
  const Logistic f = Logistic::random(3);
  Eigen::MatrixXd a(100, 20);
  for (int r = 0; r < 100; ++r)
    for (int c = 0; c < 20; ++c) a(r, c) = f.data().values[static_cast<std::size_t>(r * 20 + c)];
  const double exact = std::pow(Eigen::JacobiSVD<Eigen::MatrixXd>(a).singularValues()[0], 2) / 400;
  EXPECT_NEAR(*f.known().smoothness, exact, 1e-6 * exact);
}

TEST(Logistic, SurvivesHugeMargins) {
  LabelledRows rows;
  rows.dimension = 1;
  rows.columns = {0, 0};
  rows.values = {1, 1};
  rows.labels = {1, -1};
  rows.row_start = {0, 1, 2};
  const Logistic f(rows);
  std::vector<double> gradient(1);
  EXPECT_NEAR(f.full_gradient(std::vector<double>{1e6}, gradient), 5e5, 1e-3);
  EXPECT_NEAR(gradient[0], 0.5, 1e-12);
}

TEST(Logistic, AMiniBatchIsTheMeanOfItsRows) {
  const Logistic f = Logistic::random(4);
  const std::vector<double> x(20, 0.1);
  std::vector<double> a(20), b(20), both(20);
  const std::vector<std::uint32_t> first{3}, second{8}, pair{3, 8};
  f.gradient(x, first, a);
  f.gradient(x, second, b);
  f.gradient(x, pair, both);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(both[i], (a[i] + b[i]) / 2, 1e-15);
}

/// Five rows of three numbers.
struct FewRows final : softmax::ClassifiedRows {
  explicit FewRows(std::size_t all) : classes(all) {}
  std::size_t count() const override { return 5; }
  std::size_t width() const override { return 3; }
  void copy(std::uint32_t row, std::span<float> to) const override {
    for (std::size_t i = 0; i < 3; ++i) to[i] = std::sin(static_cast<float>(3 * row + i));
  }
  std::uint32_t label(std::uint32_t row) const override {
    return row % static_cast<std::uint32_t>(classes);
  }
  const std::size_t classes;
};

// With whole registers of classes it is summed where it is asked for, else in other memory.
TEST(SoftmaxGradient, IsThatOfTheLossWithAnyNumberOfClasses) {
  for (const std::size_t classes : {3, 4, 10, 12}) {
    const FewRows data(classes);
    const softmax::Classifier f{classes};
    std::vector<float> x(4 * classes), gradient(x.size(), std::nanf(""));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<float>(i));
    const std::vector<std::uint32_t> all{0, 1, 2, 3, 4};
    EXPECT_NEAR(f.gradient(data, x, all, gradient), f.loss(data, x), 1e-6);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::vector<float> before = x, after = x;
      before[i] -= 1e-2f;
      after[i] += 1e-2f;
      EXPECT_NEAR(gradient[i], (f.loss(data, after) - f.loss(data, before)) / 2e-2, 1e-4)
          << classes;
    }
  }
}

// Products with numbers next to 0 take a processor a hundred times as long.
TEST(SoftmaxGradient, HasNoProbabilitiesNextToZero) {
  constexpr std::size_t classes = 10;
  const FewRows data(classes);
  const softmax::Classifier f{classes};
  std::vector<float> x(4 * classes, 0.0f), gradient(x.size());
  const std::uint32_t row = 1;
  for (const float score : {90.0f, 100.0f}) {  // exp(-90), a subnormal number, is a probability
    x[3 * classes + data.label(row)] = score;
    f.gradient(data, x, Rows(&row, 1), gradient);
    EXPECT_EQ(gradient, std::vector<float>(x.size(), 0.0f)) << score;
  }
}

class SoftmaxTest : public ::testing::Test {
 protected:
  SoftmaxTest() { test::write_tiny_idx(directory); }
  test::TemporaryDirectory directory;
};

TEST_F(SoftmaxTest, GradientMatchesLoss) {
  const Softmax f(image_samples(read_idx_directory(directory.path()), {.scale = Scale::by_255}));
  EXPECT_EQ(f.dimension(), 17u * 3u);
  EXPECT_NEAR(f.loss(f.start()), std::log(3), 1e-5);
  test::expect_gradient_matches_loss(f, 1e-2, 2e-4);
  EXPECT_LE(test::largest_slope(f, 100), *f.known().smoothness);
}

TEST_F(SoftmaxTest, LearnsWhatALineCanSay) {
  const Softmax f(image_samples(read_idx_directory(directory.path()), {.scale = Scale::by_255}));
  std::vector<float> x = f.start(), gradient(x.size());
  const double chance = *f.evaluate(x).accuracy;
  EXPECT_LT(chance, 0.5);
  for (int i = 0; i < 200; ++i) {
    f.full_gradient(x, gradient);
    for (std::size_t c = 0; c < x.size(); ++c) x[c] -= 0.5f * gradient[c];
  }
  EXPECT_GT(*f.evaluate(x).accuracy, 0.95);
}

TEST(ErrorWindow, ReachesItsFirstMeanAtT29) {
  ErrorWindow window;
  for (int i = 0; i < 29; ++i) window.add(i);
  EXPECT_EQ(window.mean(), std::nullopt);
  window.add(29);
  EXPECT_DOUBLE_EQ(*window.mean(), 14.5);
  window.add(30);
  EXPECT_DOUBLE_EQ(*window.mean(), 15.5);
}

}  // namespace
}  // namespace dasgd
