// Where gradients wait for a worker, and where a worker waits for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// Gradients in the order of their arrival, each with whence it came. One worker takes, any thread
/// adds. Its owner may keep more under the same lock: the functions that say so want it held.
template <typename From>
class Inbox {
 public:
  std::mutex& mutex() const { return mutex_; }

  /// With the lock held.
  void add(GradientPtr gradient, From from) { waiting_.push_back({std::move(gradient), from}); }
  /// With the lock held: the next `wait` ends at once. True if somebody waits now, who is to be
  /// woken by `notify` when the lock is free.
  [[nodiscard]] bool ring() {
    rung_ = true;
    return asleep_;
  }
  void notify() { bell_.notify_one(); }

  void wake() {
    bool somebody_waits = false;
    {
      const std::lock_guard lock(mutex_);
      somebody_waits = ring();
    }
    if (somebody_waits) notify();
  }

  /// Moves up to `limit` gradients behind those in `gradients`; `from` gets their neighbours alone.
  void take(std::size_t limit, std::vector<GradientPtr>& gradients, std::vector<From>& from) {
    from.clear();
    const std::lock_guard lock(mutex_);
    for (; limit > 0 && !waiting_.empty(); --limit) {
      from.push_back(waiting_.front().from);
      gradients.push_back(std::move(waiting_.front().gradient));
      waiting_.pop_front();
    }
  }

  /// Until there is a gradient, somebody rings or the time is over.
  void wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    asleep_ = true;
    bell_.wait_for(lock, limit, [this] { return rung_ || !waiting_.empty(); });
    asleep_ = false;
    rung_ = false;
  }

  std::size_t depth() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  void clear() {
    std::deque<Waiting> dropped;  // goes when the lock is free again
    const std::lock_guard lock(mutex_);
    std::swap(dropped, waiting_);
  }

 private:
  struct Waiting {
    GradientPtr gradient;
    From from;
  };

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable bell_;
  std::deque<Waiting> waiting_;
  bool asleep_ = false;
  bool rung_ = false;
};

}  // namespace dasgd
