// When a worker has reached what the run was asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/problems/error_window.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd {

/// One worker's way to its targets; both must be reached where both are given.
template <typename Real>
class TargetTracker {
 public:
  TargetTracker(const Objective<Real>& objective, const TrainOptions& options)
      : objective_(objective),
        target_error_(options.target_error),
        target_loss_(options.target_loss),
        measures_(options.measure_gradients || options.target_error),
        error_met_(!target_error_),
        loss_met_(!target_loss_) {}

  /// x_i^t after t applications, t = 0 included.
  void observe_model(std::span<const Real> x) {
    if (!measures_) return;
    gradient_.resize(x.size());
    objective_.full_gradient(x, gradient_);
    const double norm = l2_norm<Real>(gradient_);
    squared_gradients_ += last_norm_ * last_norm_;
    last_norm_ = norm;
    largest_norm_ = std::max(largest_norm_, norm);
    if (error_met_) return;
    error_.add(norm);
    error_met_ = error_.mean().value_or(*target_error_ + 1) <= *target_error_;
  }
  /// The loss of an own mini-batch.
  void observe_loss(double loss) {
    loss_.add(loss);
    if (!loss_met_) loss_met_ = loss_.mean().value_or(*target_loss_ + 1) <= *target_loss_;
  }
  /// A worker that never computes has no loss of its own to wait for.
  void exempt_from_loss() { loss_met_ = true; }

  /// Records the first moment at which everything is reached; true if this is it.
  bool settle(std::uint64_t t, Nanoseconds time) {
    if (!(target_error_ || target_loss_) || reached_ || !error_met_ || !loss_met_) return false;
    reached_ = {t, time};
    return true;
  }

  struct Moment {
    std::uint64_t t;
    Nanoseconds time;
  };
  const std::optional<Moment>& reached() const { return reached_; }
  bool watches_models() const { return measures_; }
  /// The sum of |grad f(x_i^t)|^2 over the models to which a gradient was applied; nothing where
  /// the full gradient is not evaluated.
  std::optional<double> squared_gradients() const {
    return measures_ ? std::optional(squared_gradients_) : std::nullopt;
  }
  /// The largest |grad f(x_i^t)| so far; 0 where the full gradient is not evaluated.
  double largest_gradient() const { return largest_norm_; }
  /// Mean of the last losses, fewer than 30 at the beginning.
  std::optional<double> recent_loss() const { return loss_.mean_so_far(); }

 private:
  const Objective<Real>& objective_;
  const std::optional<double> target_error_, target_loss_;
  const bool measures_;
  ErrorWindow error_, loss_;
  double squared_gradients_ = 0, last_norm_ = 0, largest_norm_ = 0;
  bool error_met_, loss_met_;
  std::optional<Moment> reached_;
  std::vector<Real> gradient_;
};

}  // namespace dasgd
