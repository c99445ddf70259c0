// What the theorems promise: upper bounds of the mean of |grad f(x_i^t)|^2 over N applications, one
// statement each, with all constants. Proofs and errata: docs/theory.md.
#pragma once

namespace dasgd::theory {

/// r0 = f(x^0) - inf f, smoothness, noise, gradient bound; 0 where a bound does not need it.
struct Constants {
  double r0 = 0, L = 0, sigma2 = 0, Q = 0;
};

/// Theorem 1, first form, as published (appendix, before its last step):
/// 2 r0 / (eta N) + 3 L eta sigma^2 + L^2 S_avg^2 eta^2 Q^2. False in general.
inline double published_bound_1(const Constants& c, double eta, double N, double S_avg) {
  return 2 * c.r0 / (eta * N) + 3 * c.L * eta * c.sigma2 +
         c.L * c.L * S_avg * S_avg * eta * eta * c.Q * c.Q;
}

/// Theorem 1, second form, as published (appendix): 7 r0 / (3 eta N) + (14 / 3) L eta sigma^2.
/// False in general.
inline double published_bound_2(const Constants& c, double eta, double N) {
  return 7 * c.r0 / (3 * eta * N) + 14.0 / 3.0 * c.L * eta * c.sigma2;
}

/// Lemma 7 as published: the mean of |Delta|^2 is at most S_avg^2 eta^2 Q^2 + S_avg eta^2 sigma^2.
/// False in general.
inline double published_residual_1(const Constants& c, double eta, double S_avg) {
  return S_avg * S_avg * eta * eta * c.Q * c.Q + S_avg * eta * eta * c.sigma2;
}

/// Lemma 8 as published: the mean of |Delta|^2 is at most 1 / (7 L^2) times the mean of
/// |grad f(x_i^t)|^2, plus 2 eta sigma^2 / (7 L). False in general.
inline double published_residual_2(const Constants& c, double eta, double mean_squared_gradient) {
  return mean_squared_gradient / (7 * c.L * c.L) + 2 * eta * c.sigma2 / (7 * c.L);
}

/// Trace certificate, proved for sigma = 0 where eta L + eta^2 L^2 W <= 1. `descent` is
/// f(x^0) - f(x_i^N), at most r0.
inline double certificate_bound(double descent, double eta, double N) {
  return 2 * descent / (eta * N);
}

/// Certificate with noise, proved where eta L + 2 eta^2 L^2 W <= 1, delivery is causal and the
/// schedule does not depend on the noise:
/// 2 r0 / (eta N) + L eta sigma^2 + 2 L^2 eta^2 sigma^2 S_avg.
inline double noise_certificate_bound(const Constants& c, double eta, double N, double S_avg) {
  return 2 * c.r0 / (eta * N) + c.L * eta * c.sigma2 + 2 * c.L * c.L * eta * eta * c.sigma2 * S_avg;
}

/// A priori form, proved for eta <= 1 / (4 L max(1, S_max)): 2 r0 / (eta N) + 1.5 L eta sigma^2.
inline double a_priori_bound(const Constants& c, double eta, double N) {
  return 2 * c.r0 / (eta * N) + 1.5 * c.L * eta * c.sigma2;
}

/// Mean-square form, proved for bounded gradients and eta <= 1 / L. S_ms is the mean of |S|^2.
/// Noise adds L eta sigma^2 + 2 L^2 eta^2 sigma^2 S_avg and doubles the term with Q.
inline double mean_square_bound(const Constants& c, double eta, double N, double S_ms,
                                double S_avg) {
  const double residual = c.L * c.L * eta * eta;
  const double Q_term = residual * c.Q * c.Q * S_ms;
  if (c.sigma2 == 0) return 2 * c.r0 / (eta * N) + Q_term;
  return 2 * c.r0 / (eta * N) + 2 * Q_term + c.L * eta * c.sigma2 + 2 * residual * c.sigma2 * S_avg;
}

/// Virtual sequence, proved for bounded gradients, sigma = 0 and eta <= 1 / (2 L): the models are
/// those of all gradients in the order in which their computation began; `R_ms` is the mean of
/// |R_m|^2.
inline double virtual_sequence_bound(const Constants& c, double eta, double N, double R_ms) {
  return 2 * c.r0 / (eta * N) + c.L * c.L * eta * eta * c.Q * c.Q * R_ms;
}

}  // namespace dasgd::theory
