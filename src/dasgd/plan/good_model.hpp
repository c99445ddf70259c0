// What workers know together of how their run goes while it goes well.
#pragma once

#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace dasgd {

/// The best model that workers have offered, to fall back on when the run diverges, and how large
/// losses were at the beginning. Any thread.
template <typename Real>
class GoodModel {
 public:
  void offer(double loss, std::span<const Real> x) {
    const std::lock_guard lock(mutex_);
    if (!std::isfinite(loss) || loss > loss_) return;
    loss_ = loss;
    x_.assign(x.begin(), x.end());
  }
  /// One of the first losses of a worker.
  void note_early_loss(double loss) {
    const double size = std::fabs(loss);
    double known = early_loss_.load();
    while (size > known && !early_loss_.compare_exchange_weak(known, size)) {
    }
  }
  /// The largest of these. A worker that starts late has seen only what others left of it.
  double early_loss() const { return early_loss_.load(); }

  /// Empty before the first offer.
  std::vector<Real> take() {
    const std::lock_guard lock(mutex_);
    return std::move(x_);
  }

 private:
  std::atomic<double> early_loss_ = 0;
  std::mutex mutex_;  // guards all below
  double loss_ = std::numeric_limits<double>::infinity();
  std::vector<Real> x_;
};

}  // namespace dasgd
