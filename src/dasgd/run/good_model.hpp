// What workers know together of how their run goes while it goes well.
#pragma once

#include <atomic>
#include <cmath>
#include <functional>
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
  /// Where workers run in several processes, `send` passes the largest early loss on to the others
  /// whenever it has doubled here. Only the process that concludes needs `keeps_models`.
  explicit GoodModel(std::function<void(double)> send = {}, bool keeps_models = true)
      : send_(std::move(send)), keeps_models_(keeps_models) {}

  /// Nobody waits: while another's model is being copied, this one is passed over. The next is not
  /// far, and there is one buffer however many workers there are.
  void offer(double loss, std::span<const Real> x) {
    if (!keeps_models_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !std::isfinite(loss) || loss > loss_) return;
    loss_ = loss;
    x_.assign(x.begin(), x.end());
  }
  /// One of the first losses of a worker.
  void note_early_loss(double loss) {
    const double size = std::fabs(loss);
    raise(early_loss_, size);
    if (send_ && raise(sent_, size, 2)) send_(size);
  }
  /// What another process has sent.
  void hear_early_loss(double size) {
    raise(early_loss_, size);
    raise(sent_, size);
  }
  /// The largest of these. A worker that starts late has seen only what others left of it.
  double early_loss() const { return early_loss_.load(); }

  /// Empty before the first offer.
  std::vector<Real> take() {
    const std::lock_guard lock(mutex_);
    return std::move(x_);
  }

 private:
  // Whether this call raised it: the value must be above `times` what is known.
  static bool raise(std::atomic<double>& to, double value, double times = 1) {
    double known = to.load();
    while (value > times * known)
      if (to.compare_exchange_weak(known, value)) return true;
    return false;
  }

  const std::function<void(double)> send_;
  const bool keeps_models_;
  std::atomic<double> early_loss_ = 0, sent_ = 0;
  std::mutex mutex_;  // guards all below
  double loss_ = std::numeric_limits<double>::infinity();
  std::vector<Real> x_;
};

}  // namespace dasgd
