// Where a worker leaves copies of its model for those who ask.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

namespace dasgd {

/// Nothing is copied unless somebody asks, once for all who ask meanwhile, and never while the lock
/// is held: a worker that gives a large model waits for nobody, and readers share the copy. A
/// buffer is used again when its last reader has released it; readers must release it before the
/// board is destroyed.
template <typename Real>
class ModelBoard {
 public:
  using Model = std::shared_ptr<const std::vector<Real>>;

  /// Asks for a copy; the worker makes it between two steps. Any thread.
  void ask() { wanted_.store(true, std::memory_order_relaxed); }
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }

  /// For the worker.
  void give(std::span<const Real> x) {
    wanted_.store(false, std::memory_order_relaxed);  // requests from here on get a later one
    auto buffer = std::make_unique<std::vector<Real>>(take_spare());
    buffer->assign(x.begin(), x.end());
    Model model(buffer.release(), [this](std::vector<Real>* b) { give_back(b); });
    {
      const std::lock_guard lock(mutex_);
      std::swap(latest_, model);  // the one before goes when the lock is free again
      ++given_;
    }
    changed_.notify_all();
  }

  /// The last one; null before the first. Any thread.
  Model latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  /// Asks for one and waits until it has come. Null if a stop is requested first.
  Model wait(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    const std::uint64_t before = given_;
    ask();
    if (!changed_.wait(lock, stop, [&] { return given_ != before; })) return nullptr;
    return latest_;
  }

  ~ModelBoard() {
    const Model last = std::exchange(latest_, nullptr);  // goes while the spare is still there
  }

 private:
  std::vector<Real> take_spare() {
    const std::lock_guard lock(mutex_);
    return std::exchange(spare_, {});
  }
  void give_back(std::vector<Real>* buffer) {
    const std::unique_ptr<std::vector<Real>> owned(buffer);
    const std::lock_guard lock(mutex_);
    std::swap(spare_, *owned);
  }

  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable_any changed_;
  std::vector<Real> spare_;
  Model latest_;
  std::uint64_t given_ = 0;
};

}  // namespace dasgd
