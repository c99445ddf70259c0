// What is wrong in the paper, in numbers (docs/errata.md). Lemmas have the paper's numbers.
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "dasgd/theory/bounds.hpp"
#include "dasgd/theory/step_size.hpp"

namespace dasgd {
namespace {

/// The models of the burst, one after the other: f = x^2 / 2, eta = 1/2, |S| = 0, 1, 2, 3, then 0.
/// The first four gradients are all of x = 1.
struct Burst {
  const double eta = 0.5, L = 1, r0 = 0.5, Q = 1, N = 72;
  std::vector<double> x, S, Delta;  // Delta: eta times the sum of |g| over S
  Burst() {
    double here = 1;
    for (int t = 0; t < 72; ++t) {
      x.push_back(here);
      S.push_back(t < 4 ? t : 0);
      Delta.push_back(eta * S.back());
      here -= eta * (t < 4 ? 1 : here);
    }
  }
  static double sum_of_squares(const std::vector<double>& v) {
    return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  }
  double S_avg() const { return std::accumulate(S.begin(), S.end(), 0.0) / N; }
};

TEST(Errata, TheBurstBreaksBothFormsOfTheoremOneWhereTheirStepsAreAllowed) {
  const Burst b;
  const theory::Constants c{b.r0, b.L, 0, b.Q};
  const double sum = Burst::sum_of_squares(b.x);
  EXPECT_NEAR(sum, 17.0 / 6, 1e-12);
  EXPECT_LE(b.eta, theory::published_eta_1(b.L, b.S_avg()));
  EXPECT_LE(b.eta, 1 / (2 * b.L));
  EXPECT_NEAR(b.N * theory::published_bound_1(c, b.eta, b.N, b.S_avg()), 2.125, 1e-12);
  EXPECT_GT(sum, 2.125);
  EXPECT_NEAR(theory::published_eta_2(b.L, b.S_avg(), 3), b.eta, 1e-12);
  EXPECT_NEAR(b.N * theory::published_bound_2(c, b.eta, b.N), 7.0 / 3, 1e-12);
  EXPECT_GT(sum, 7.0 / 3);
}

TEST(Errata, LemmaSevenTakesTheSquareOfTheMeanForTheMeanOfSquares) {
  const Burst b;
  const double measured = Burst::sum_of_squares(b.Delta) / b.N;
  EXPECT_GT(measured, 20 * std::pow(b.S_avg() * b.eta * b.Q, 2)) << "the published right side";
  EXPECT_NEAR(measured, b.eta * b.eta * b.Q * b.Q * Burst::sum_of_squares(b.S) / b.N, 1e-12)
      << "the mean square is what stands there";
}

TEST(Errata, LemmaEightFailsAndSoDoesItsStepFromAWeightedSumToTheAverage) {
  const Burst b;
  EXPECT_GT(Burst::sum_of_squares(b.Delta), 8 * Burst::sum_of_squares(b.x) / (7 * b.L * b.L));
  double weighted = 0, plain = 0;  // a_t = |grad f(x_t)| + L |Delta_t|
  for (std::size_t t = 0; t < b.x.size(); ++t) {
    const double a = std::fabs(b.x[t]) + b.L * b.Delta[t];
    weighted += b.S[t] * a * a;
    plain += a * a;
  }
  EXPECT_GT(weighted, 10 * b.S_avg() * plain)
      << "sum of |S_t| a_t^2 is not at most S_avg times the sum of a_t^2";
}

TEST(Errata, InLemmaEightNoiseAddsUpOnceItsSignIsTakenAway) {
  constexpr int k = 6;
  constexpr double sigma = 2;
  double absolute = 0, with_signs = 0;
  for (unsigned signs = 0; signs < 1u << k; ++signs) {  // true gradients are 0
    double sum = 0, sum_of_absolutes = 0;
    for (int g = 0; g < k; ++g) {
      const double noise = (signs >> g) % 2 == 0 ? sigma : -sigma;
      sum += noise;
      sum_of_absolutes += std::fabs(noise);
    }
    with_signs += sum * sum / (1u << k);
    absolute += sum_of_absolutes * sum_of_absolutes / (1u << k);
  }
  EXPECT_DOUBLE_EQ(with_signs, k * sigma * sigma);
  EXPECT_DOUBLE_EQ(absolute, k * k * sigma * sigma) << "the paper has |S| sigma^2 here";
}

TEST(Errata, LemmaEightBoundsADistanceByGradientsThatMakeUpAnother) {
  // Workers i and j have applied the same m gradients; i also one of a slow worker k, computed at
  // x^0 = 0. A fresh gradient of j comes to i: S = S_hat = {k's}, yet i is far from x^0.
  constexpr double eta = 0.1, m = 50;
  const double Delta = eta * 1, distance = eta * (m + 1);  // all gradients are 1
  EXPECT_GT(distance, 50 * Delta) << "|x_i^t - x_k^u| <= |Delta| for all of S_hat is not so";
}

/// f' is x to the right of 0, 0 from -s to 0, then rises to the left with slope 1 and falls again:
/// f is 1-smooth and bounded from below.
struct Hook {
  double s, top;  // f' is largest at -top
  double slope(double x) const {
    if (x >= 0) return x;
    return std::max(0.0, std::min(-x - s, 2 * top - s + x));
  }
  double loss(double x) const {  // exact: f' is linear between these
    double sum = 0;
    const std::vector<double> knots{0, -s, -top, s - 2 * top};
    if (x >= 0) return x * x / 2;
    for (std::size_t k = 0; k + 1 < knots.size() && x < knots[k]; ++k) {
      const double end = std::max(x, knots[k + 1]);
      sum -= (slope(knots[k]) + slope(end)) / 2 * (knots[k] - end);
    }
    return sum;
  }
};

TEST(Errata, LemmaSixWithNoiseNeedsCausalDelivery) {
  // x^0 = 0. Worker j computes g = z, noise of +-1. m helpers apply it and compute one gradient
  // each, exact. Worker i hears of the helpers first and applies g last: its model knows z already.
  constexpr double eta = 0.4, sigma2 = 1, L = 1;
  constexpr int m = 20;
  const double s = eta, a = eta * m;
  const Hook f{s, a * s};
  double left = 0, right = 0;
  for (const double z : {-1.0, 1.0}) {
    const double h = f.slope(-eta * z);
    const double x = -eta * m * h;
    const double Delta = eta * m * std::fabs(h);  // S holds the helpers' gradients
    left += f.loss(x - eta * z) / 2;
    right += (f.loss(x) - eta / 2 * std::pow(f.slope(x), 2) + L * eta * eta * sigma2 +
              eta * L * L / 2 * Delta * Delta) /
             2;
  }
  EXPECT_NEAR(left - right, 0.12, 1e-12);
}

TEST(Errata, StalenessOfTheSquareRootOfTIsTooMuchForTheFirstForm) {
  // The middle term is (Q S_avg / T)^(2/3); SGD has sigma / sqrt(T).
  const auto ratio = [](double T, double S_avg) {
    return std::pow(S_avg / T, 2.0 / 3) / std::pow(T, -0.5);
  };
  EXPECT_NEAR(ratio(1e12, 1e6) / ratio(1e6, 1e3), 10, 1e-9) << "with S_avg = sqrt(T) it grows";
  EXPECT_NEAR(ratio(1e12, 1e3) / ratio(1e4, 10), 1, 1e-9) << "with S_avg = T^(1/4) it does not";
}

TEST(Errata, TheValueAtALocalMinimumDoesNotDo) {
  // Two wells. From near the lower one, the other is no lower bound of f.
  const auto f = [](double x) { return std::pow(x * x - 1, 2) / 4 + x / 5; };
  const auto slope = [](double x) { return x * (x * x - 1) + 0.2; };
  double other = 1;
  for (int k = 0; k < 200; ++k) other -= 0.1 * slope(other);
  ASSERT_NEAR(slope(other), 0, 1e-9);
  const double x = -0.9, eta = 0.01;
  EXPECT_LT(7 * (f(x) - f(other)) / (3 * eta), 0);
  EXPECT_GT(slope(x) * slope(x), 0);
}

// True gradients 0, noise +-sigma: absolute values leave nothing that could cancel.
TEST(Errata, LemmaSevenHasTheNoiseOfLemmaEight) {
  const double eta = 0.1, sigma = 2, S = 5;
  const double Delta = eta * S * sigma;  // whatever the signs
  EXPECT_GT(Delta * Delta, theory::published_residual_1({0, 1, sigma * sigma, 0}, eta, S));
  EXPECT_NEAR(Delta * Delta, S * S * eta * eta * sigma * sigma, 1e-12);
}

TEST(Errata, TheLastLineOfLemmaEightHasLOnTheWrongSide) {
  const double S_avg = 3, S_max = 7, sigma2 = 2;
  for (const double L : {0.5, 1.0, 4.0}) {
    const double eta = theory::published_eta_2(L, S_avg, S_max);
    const double before = 8.0 / 7 * S_avg * eta * eta * sigma2;  // the line before it
    const double stated = theory::published_residual_2({0, L, sigma2, 0}, eta, 0);
    const double printed = 2.0 / 7 * L * eta * sigma2;
    EXPECT_LE(before, stated * (1 + 1e-12));
    EXPECT_NEAR(printed / stated, L * L, 1e-12);
    if (L < 1) EXPECT_LT(printed, before) << "so the printed line does not follow";
  }
}

TEST(Errata, TheDifferenceOfTwoModelsTakesSigns) {
  const double eta = 0.1, a = 1, b = 3;  // i has applied a, j has applied b
  const double x_i = 5 - eta * a, x_j = 5 - eta * b;
  EXPECT_NE(x_i + eta * (a + b), x_j) << "delta as it is defined";
  EXPECT_DOUBLE_EQ(x_i + eta * (a - b), x_j);
}

}  // namespace
}  // namespace dasgd
