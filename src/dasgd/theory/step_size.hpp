// Step-size limits of a finished run, one statement each. What is published and what is proved:
// docs/theory.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace dasgd::theory {

/// Theorem 1, first form, as published: eta <= 1 / (4 L S_avg). False in general.
inline double published_eta_1(double L, double S_avg) { return 1 / (4 * L * S_avg); }

/// Theorem 1, second form, as published: eta <= 1 / (4 L sqrt(S_hat_avg S_hat_max)). False in
/// general.
inline double published_eta_2(double L, double S_hat_avg, double S_hat_max) {
  return 1 / (4 * L * std::sqrt(S_hat_avg * S_hat_max));
}

/// Trace certificate, proved for sigma = 0 and a run that is drained, or causal at any time: if
/// eta L + eta^2 L^2 W <= 1 then the sum of |grad f(x_i^t)|^2 is at most 2 (f(x^0) - f(x_i^N)) /
/// eta.
inline bool certified(double eta, double L, std::uint64_t W) {
  return eta * L + eta * eta * L * L * static_cast<double>(W) <= 1;
}

/// The largest eta that `certified` accepts. Written so that nothing cancels for small W.
inline double certified_eta(double L, std::uint64_t W) {
  return 2 / ((std::sqrt(1 + 4 * static_cast<double>(W)) + 1) * L);
}

}  // namespace dasgd::theory
