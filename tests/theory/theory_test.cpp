#include <cmath>
#include <gtest/gtest.h>

#include "dasgd/random/random.hpp"
#include "dasgd/theory/bounds.hpp"
#include "dasgd/theory/step_size.hpp"
#include "dasgd/theory/tuned_step.hpp"

namespace dasgd::theory {
namespace {

TEST(StepSize, TheLargestCertifiedStepMeetsItsConditionExactly) {
  for (const std::uint64_t W : {0u, 1u, 7u, 252u, 1'000'000u})
    for (const double L : {0.01, 0.5, 4.0, 55.6}) {
      const double eta = certified_eta(L, W);
      EXPECT_NEAR(certificate_condition(eta, L, static_cast<double>(W)), 1, 1e-12);
      EXPECT_FALSE(certified(eta * 1.0001, L, W));
      EXPECT_TRUE(certified(eta * 0.9999, L, W));
    }
  EXPECT_DOUBLE_EQ(certified_eta(4, 0), 0.25);
}

TEST(StepSize, PublishedLimitsAreThoseOfThePaper) {
  EXPECT_DOUBLE_EQ(published_eta_1(2, 5), 1.0 / 40);
  EXPECT_DOUBLE_EQ(published_eta_2(1, 6.0 / 72, 3), 0.5);
  EXPECT_DOUBLE_EQ(published_eta_2(2, 6.0 / 72, 3), 0.25);
}

TEST(StepSize, ProvedLimitsAreThoseOfTheirStatements) {
  const double L = 3, eta = noise_certified_eta(L, 5);
  EXPECT_NEAR(eta * L + 2 * eta * eta * L * L * 5, 1, 1e-12);
  EXPECT_DOUBLE_EQ(a_priori_eta(L, 5), 1.0 / 60);
  EXPECT_DOUBLE_EQ(a_priori_eta(L, 0.5), 1.0 / 12);
  EXPECT_DOUBLE_EQ(mean_square_eta(L), 1.0 / 3);
  EXPECT_DOUBLE_EQ(virtual_sequence_eta(L), 1.0 / 6);
}

TEST(Bounds, TakeTheirConstantsFromTheStatements) {
  const Constants c{.r0 = 2, .L = 3, .sigma2 = 5, .Q = 7};
  const double eta = 0.1, N = 11;
  EXPECT_DOUBLE_EQ(published_bound_1(c, eta, N, 4), 4 / 1.1 + 4.5 + 9 * 16 * 0.01 * 49);
  EXPECT_DOUBLE_EQ(published_bound_2(c, eta, N), 14 / 3.3 + 14.0 / 3 * 1.5);
  EXPECT_DOUBLE_EQ(certificate_bound(2, eta, N), 4 / 1.1);
  EXPECT_DOUBLE_EQ(a_priori_bound(c, eta, N), 4 / 1.1 + 2.25);
  EXPECT_DOUBLE_EQ(noise_certificate_bound(c, eta, N, 4), 4 / 1.1 + 1.5 + 2 * 0.09 * 5 * 4);
  EXPECT_DOUBLE_EQ(published_residual_1(c, eta, 4), 16 * 0.01 * 49 + 4 * 0.01 * 5);
  EXPECT_DOUBLE_EQ(published_residual_2(c, eta, 6), 6.0 / 63 + 1.0 / 21);
  EXPECT_DOUBLE_EQ(mean_square_bound(c, eta, N, 6, 4),
                   4 / 1.1 + 2 * 0.09 * 49 * 6 + 1.5 + 2 * 0.09 * 5 * 4);
  EXPECT_DOUBLE_EQ(mean_square_bound({2, 3, 0, 7}, eta, N, 6, 4), 4 / 1.1 + 0.09 * 49 * 6);
  EXPECT_DOUBLE_EQ(virtual_sequence_bound(c, eta, N, 6), 4 / 1.1 + 0.09 * 49 * 6);
}

TEST(TunedStep, KeepsItsPromiseForEveryBoundAndHorizon) {
  Random random(1, Purpose::test);
  const auto draw = [&](double low, double high) {
    return std::pow(10, low + (high - low) * random.uniform());
  };
  for (int k = 0; k < 20'000; ++k) {
    RateBound bound{draw(-3, 3), draw(-3, 3), draw(-3, 3), draw(-3, 3)};
    if (random.below(4) == 0) bound.b = 0;
    if (random.below(4) == 0) bound.e = 0;
    const double N = draw(0, 7), epsilon = draw(-4, 1);
    ASSERT_LE(tuned_eta(bound, N), 1 / bound.d);
    ASSERT_LE(bound.at(tuned_eta(bound, N), N), tuned_bound(bound, N) * (1 + 1e-12));
    ASSERT_LE(tuned_bound(bound, iterations_for(bound, epsilon)), epsilon * (1 + 1e-12));
  }
}

TEST(TunedStep, ABoundWithoutNoiseIsItsFirstTerm) {
  EXPECT_DOUBLE_EQ((RateBound{.r = 3, .d = 2}.at(0.5, 6)), 1);
}

TEST(TunedStep, ATinyAccuracyNeverTakesFewIterations) {
  for (const RateBound bound :
       {RateBound{1, 0, 0, 1}, RateBound{1, 1, 0, 1}, RateBound{1, 1, 1, 1}})
    for (const double epsilon : {1e-100, 1e-200, 1e-300, 5e-324})
      EXPECT_GE(iterations_for(bound, epsilon), 1 / epsilon) << epsilon;
}

}  // namespace
}  // namespace dasgd::theory
