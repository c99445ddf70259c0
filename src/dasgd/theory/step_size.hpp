// Step-size limits, one statement each. What is published and what is proved: docs/theory.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dasgd::theory {

/// Theorem 1, first form, as published: eta <= 1 / (4 L S_avg). False in general.
inline double published_eta_1(double L, double S_avg) { return 1 / (4 * L * S_avg); }

/// Theorem 1, second form, as published: eta <= 1 / (4 L sqrt(S_hat_avg S_hat_max)). False in
/// general.
inline double published_eta_2(double L, double S_hat_avg, double S_hat_max) {
  return 1 / (4 * L * std::sqrt(S_hat_avg * S_hat_max));
}

/// eta L + eta^2 L^2 W: the certificate holds where this is at most 1.
inline double certificate_condition(double eta, double L, double W) {
  return eta * L + eta * eta * L * L * W;
}

/// Trace certificate, proved for sigma = 0 and a run that is drained, or causal at any time: then
/// the sum of |grad f(x_i^t)|^2 is at most 2 (f(x^0) - f(x_i^N)) / eta.
inline bool certified(double eta, double L, std::uint64_t W) {
  return certificate_condition(eta, L, static_cast<double>(W)) <= 1;
}

/// The largest eta that `certified` accepts: (sqrt(1 + 4 W) - 1) / (2 W L), and 1 / L for W = 0.
/// Written so that nothing cancels for small W.
inline double certified_eta(double L, std::uint64_t W) {
  return 2 / ((std::sqrt(1 + 4 * static_cast<double>(W)) + 1) * L);
}

/// Certificate with noise, proved for causal delivery and a schedule that does not depend on the
/// noise: eta L + 2 eta^2 L^2 W <= 1. What it promises is `noise_certificate_bound`.
inline double noise_certified_eta(double L, std::uint64_t W) { return certified_eta(L, 2 * W); }

/// A priori, proved: eta <= 1 / (4 L max(1, S_max)), with noise where delivery is causal and the
/// schedule does not depend on the noise.
inline double a_priori_eta(double L, double S_max) { return 1 / (4 * L * std::max(1.0, S_max)); }

/// Mean-square form, proved for bounded gradients: eta <= 1 / L.
inline double mean_square_eta(double L) { return 1 / L; }

/// Virtual sequence, proved for bounded gradients and sigma = 0: eta <= 1 / (2 L), whatever the
/// slowest worker does.
inline double virtual_sequence_eta(double L) { return 1 / (2 * L); }

}  // namespace dasgd::theory
