// The rates of Theorem 1 as the paper prints them (appendix, "Psi_T"), and the T that they promise.
// Both rest on inequalities that are false in general: docs/errata.md.
#pragma once

#include <cmath>

#include "dasgd/theory/bounds.hpp"

namespace dasgd::theory {

/// First form: 2 (3 L sigma^2 r0 / N)^(1/2) + 2 (L^2 S_avg^2 Q^2)^(1/3) (r0 / N)^(2/3)
/// + 4 L r0 S_avg / N, with N = T + 1.
inline double published_psi_1(const Constants& c, double N, double S_avg) {
  return 2 * std::sqrt(3 * c.L * c.sigma2 * c.r0 / N) +
         2 * std::cbrt(c.L * c.L * S_avg * S_avg * c.Q * c.Q) * std::pow(c.r0 / N, 2.0 / 3.0) +
         4 * c.L * c.r0 * S_avg / N;
}

/// Second form: 2 (14 L sigma^2 r0 / (3 N))^(1/2) + 4 L r0 (S_hat_avg S_hat_max)^(1/2) / N.
inline double published_psi_2(const Constants& c, double N, double S_hat_avg, double S_hat_max) {
  return 2 * std::sqrt(14 * c.L * c.sigma2 * c.r0 / (3 * N)) +
         4 * c.L * c.r0 * std::sqrt(S_hat_avg * S_hat_max) / N;
}

/// The smallest N at which a rate that falls with N is at most `epsilon`; infinite where that is
/// beyond 1e300.
template <typename Rate>
double iterations_until(const Rate& rate, double epsilon) {
  double high = 1;
  while (rate(high) > epsilon) {
    high *= 2;
    if (high > 1e300) return HUGE_VAL;
  }
  double low = high / 2;
  if (high == 1) return 1;
  for (int k = 0; k < 200 && high - low > 1e-9 * high; ++k) {
    const double middle = low + (high - low) / 2;
    (rate(middle) > epsilon ? low : high) = middle;
  }
  return high;
}

}  // namespace dasgd::theory
