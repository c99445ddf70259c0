// What a worker does when its model runs away, and the model to fall back on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/core/replica.hpp"
#include "dasgd/core/update_rule.hpp"
#include "dasgd/plan/options.hpp"

namespace dasgd {

/// The best model that workers have offered. Any thread.
template <typename Real>
class GoodModel {
 public:
  void offer(double loss, std::span<const Real> x) {
    const std::lock_guard lock(mutex_);
    if (!std::isfinite(loss) || loss > loss_) return;
    loss_ = loss;
    x_.assign(x.begin(), x.end());
  }
  /// Empty before the first offer.
  std::vector<Real> take() {
    const std::lock_guard lock(mutex_);
    return std::move(x_);
  }

 private:
  std::mutex mutex_;  // guards all below
  double loss_ = std::numeric_limits<double>::infinity();
  std::vector<Real> x_;
};

/// Watches one worker's loss and stands between its update rule and its gradients: halving the step
/// size of later gradients is legal, because each gradient carries its own.
template <typename Real>
class DivergenceGuard final : public UpdateRule<Real> {
 public:
  /// A loss that averages more than this many times the largest of the first 30 has run away.
  static constexpr double runaway = 10;

  DivergenceGuard(WorkerId worker, UpdateRule<Real>& inner, const TrainOptions& options,
                  GoodModel<Real>& good)
      : worker_(worker), inner_(inner), policy_(options.on_divergence), good_(good) {}

  double prepare(std::uint64_t t, std::span<const Real> x, std::span<Real> gradient) override {
    eta_ = scale_ * inner_.prepare(t, x, gradient);
    return eta_;
  }
  Bytes state() const override { return inner_.state(); }
  bool restore(std::span<const std::byte> state) override { return inner_.restore(state); }

  /// After an own gradient: its loss, the mean of the last 30, the replica. Throws LossDivergence
  /// when the loss has run away and the run is to stop.
  void observe(double loss, double recent, Replica<Real>& replica) {
    if (seen_ % offer_every == 0) good_.offer(recent, replica.x());
    if (seen_++ < settling) {
      first_ = std::max(first_, std::fabs(loss));
      limit_ = runaway * first_;
    } else if (--patience_ < 0 && !(recent <= limit_)) {
      if (policy_ == OnDivergence::stop) throw LossDivergence(worker_, first_, recent, eta_);
      halve(recent);
    }
  }

  /// Whether the worker goes on after an update that could not be made.
  bool survives() {
    if (policy_ == OnDivergence::stop || halvings_ >= most_halvings) return false;
    halve(limit_);
    return true;
  }

  std::uint32_t halvings() const { return halvings_; }

 private:
  static constexpr std::uint64_t settling = 30, offer_every = 64;
  static constexpr std::uint32_t most_halvings = 60;

  // Gives the smaller steps time to show in the mean, and halves again if the loss still doubles.
  void halve(double recent) {
    scale_ /= 2;
    ++halvings_;
    patience_ = settling;
    limit_ = std::max(runaway * first_, 2 * recent);
  }

  const WorkerId worker_;
  UpdateRule<Real>& inner_;
  const OnDivergence policy_;
  GoodModel<Real>& good_;
  double scale_ = 1, eta_ = 0;
  double first_ = 0, limit_ = 0;
  std::uint64_t seen_ = 0;
  std::int64_t patience_ = 0;
  std::uint32_t halvings_ = 0;
};

}  // namespace dasgd
