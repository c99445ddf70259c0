// The step size of a run held against the limits of the theory.
#pragma once

#include <optional>
#include <string>

#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

/// An inequality of the theory: what a run's models measured, what is promised.
struct MeasuredBound {
  double left = 0;   ///< the sum of |grad f(x_i^t)|^2 over one worker's applications
  double right = 0;  ///< the bound of that sum
  double ratio() const { return left / right; }
};

/// What can be said of eta after a run, for an objective with smoothness L.
struct StepLimits {
  double eta = 0, L = 0;
  /// Whether gradients carried noise; nothing where that is not known, as of a trace alone.
  std::optional<bool> noise;
  /// Whether the trace certificate proves this eta for this run; nothing if gradients carried noise
  /// or W was not kept.
  std::optional<bool> certified;
  std::string certified_why;            ///< the grounds of that, or why there is no answer
  std::optional<double> certified_eta;  ///< the largest eta that it proves, without noise
  double a_priori_eta = 0;              ///< proved from S_max alone
  double published_eta_1 = 0;
  double published_eta_2 = 0;  ///< no number where S_hat is not known
  /// Of the worker whose ratio is largest, where the full gradient was evaluated at every model and
  /// gradients carried no noise.
  std::optional<MeasuredBound> certificate, published;
};

/// Why the certificate says nothing of other rules and schedules.
inline constexpr const char* not_plain_sgd =
    "the certificate is for plain SGD with one fixed step size";

/// What the certificate asks of a run beside its staleness.
struct CertificateTerms {
  std::optional<bool> noise = false;  ///< gradients are of mini-batches; nothing: not known
  bool fixed_step = true;             ///< plain SGD, every step with this eta
  bool complete = true;               ///< drained, or causal; nothing lost
  bool members = false;               ///< that come and go
  bool look_ahead = false;            ///< gradients were not computed at replicas
};

StepLimits step_limits(const StalenessSummary& staleness, double eta, double L,
                       const CertificateTerms& terms);

}  // namespace dasgd
