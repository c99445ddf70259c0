#include "dasgd/theory/published_rate.hpp"

#include <gtest/gtest.h>

#include "dasgd/theory/tuned_step.hpp"

namespace dasgd::theory {
namespace {

TEST(PublishedRate, IsTheTunedStepAppliedToTheBoundsWithTheFactorOfR0Dropped) {
  // The bounds have 2 r0 and 7 r0 / 3 where the printed rates have r0.
  const Constants c{.r0 = 3, .L = 2, .sigma2 = 0.5, .Q = 4};
  const double N = 1000, S_avg = 3, S_hat_max = 12;
  EXPECT_NEAR(
      published_psi_1(c, N, S_avg),
      tuned_bound(
          {c.r0, 3 * c.L * c.sigma2, c.L * c.L * S_avg * S_avg * c.Q * c.Q, 4 * c.L * S_avg}, N),
      1e-12);
  EXPECT_NEAR(published_psi_2(c, N, S_avg, S_hat_max),
              tuned_bound({c.r0, 14.0 / 3 * c.L * c.sigma2, 0, 4 * c.L * 6}, N), 1e-12);
}

TEST(PublishedRate, WithoutNoiseTheSecondIsProportionalToTheStaleness) {
  const Constants c{.r0 = 3, .L = 2};
  const auto psi = [&](double N) { return published_psi_2(c, N, 2, 8); };
  EXPECT_NEAR(iterations_until(psi, 1e-12), 4 * 2 * 3 * 4 / 1e-12, 1e8);
  EXPECT_EQ(iterations_until([](double) { return 0.0; }, 1e-12), 1);
  EXPECT_EQ(iterations_until([](double) { return 1.0; }, 0.5), HUGE_VAL);
}

// Section 4.1, tightness: S_max = n and S_avg = n / 2 in the second form give n times the known
// n-fold of mini-batch SGD, sigma^2 / (n eps^2) + 1 / eps batches, but for constants.
TEST(PublishedRate, WithTheStalenessOfAMiniBatchIsThatOfMiniBatchSgd) {
  const double eps = 1e-3, r0 = 1, L = 1;
  for (const double n : {2.0, 8.0, 64.0, 1024.0}) {
    const Constants noisy{.r0 = r0, .L = L, .sigma2 = 4}, exact{.r0 = r0, .L = L};
    const auto batches = [&](const Constants& c) {
      return iterations_until([&](double N) { return published_psi_2(c, N, n / 2, n); }, eps) / n;
    };
    EXPECT_NEAR(batches(exact) / (L * r0 / eps), 4 / std::sqrt(2.0), 1e-3) << "whatever n";
    const double noise = batches(noisy) - batches(exact);
    EXPECT_NEAR(noise / (L * r0 * 4 / (n * eps * eps)), 4 * 14.0 / 3, 4.0) << n;
  }
}

}  // namespace
}  // namespace dasgd::theory
