// The step size for a horizon, and the horizon for an accuracy: the paper's use of Lemma 17 of
// Koloskova et al. (2020), with the constants that it dropped.
#pragma once

#include <algorithm>
#include <cmath>

namespace dasgd::theory {

/// A bound of the form r / (eta N) + b eta + e eta^2, valid for eta <= 1 / d.
struct RateBound {
  double r = 0, b = 0, e = 0, d = 0;

  double at(double eta, double N) const { return r / (eta * N) + b * eta + e * eta * eta; }
};

/// min{1/d, sqrt(r / (b N)), cbrt(r / (e N))}.
inline double tuned_eta(const RateBound& bound, double N) {
  double eta = 1 / bound.d;
  if (bound.b > 0) eta = std::min(eta, std::sqrt(bound.r / (bound.b * N)));
  if (bound.e > 0) eta = std::min(eta, std::cbrt(bound.r / (bound.e * N)));
  return eta;
}

/// What the tuned step promises: 2 sqrt(b r / N) + 2 e^(1/3) (r / N)^(2/3) + d r / N.
inline double tuned_bound(const RateBound& bound, double N) {
  return 2 * std::sqrt(bound.b * bound.r / N) +
         2 * std::cbrt(bound.e) * std::pow(bound.r / N, 2.0 / 3.0) + bound.d * bound.r / N;
}

/// Iterations after which the tuned step promises at most `epsilon`:
/// max{36 b r / epsilon^2, 6^1.5 sqrt(e) r / epsilon^1.5, 3 d r / epsilon}; infinite where that is
/// beyond what a double holds.
inline double iterations_for(const RateBound& bound, double epsilon) {
  const double root = std::sqrt(epsilon);  // the powers of a small epsilon would be 0
  return std::max({36 * bound.b * bound.r / epsilon / epsilon,
                   std::pow(6.0, 1.5) * std::sqrt(bound.e) * bound.r / epsilon / root,
                   3 * bound.d * bound.r / epsilon});
}

}  // namespace dasgd::theory
