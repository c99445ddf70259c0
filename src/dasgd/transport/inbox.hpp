// Where gradients wait for a worker, and where a worker waits for them.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dasgd/core/bundle.hpp"
#include "dasgd/core/channel.hpp"
#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// Gradients and bundles in the order of their arrival, each with whence it came. One worker takes,
/// any thread adds. What waits for a worker that is behind can be folded, by whoever wants the
/// buffers back: then it waits as one bundle, in front of what arrives later. Its owner may keep
/// more under the same lock: the functions that say so want it held.
template <typename From>
class Inbox {
 public:
  /// A gradient or a bundle.
  struct Waiting {
    GradientPtr gradient;
    BundlePtr bundle;
    From from;
  };

  std::mutex& mutex() const { return mutex_; }

  /// With the lock held.
  void add(GradientPtr gradient, From from) {
    waiting_.push_back({std::move(gradient), nullptr, from});
    ++depth_;
  }
  void add(BundlePtr bundle, From from) {
    depth_ += bundle->size();
    waiting_.push_back({nullptr, std::move(bundle), from});
  }
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

  /// Up to `limit` gradients, or the bundle that comes first; `from` gets whence gradients came.
  /// Nothing while somebody folds what comes first.
  void take(std::size_t limit, Received& received, std::vector<From>& from) {
    from.clear();
    const std::lock_guard lock(mutex_);
    if (folding_) return;
    if (folded_) {
      received.bundle = std::move(folded_);
    } else if (!waiting_.empty() && waiting_.front().bundle) {
      received.bundle = std::move(waiting_.front().bundle);
      waiting_.pop_front();
    }
    if (received.bundle) {
      depth_ -= received.bundle->size();
      return;
    }
    for (; limit > 0 && !waiting_.empty() && waiting_.front().gradient; --limit) {
      from.push_back(waiting_.front().from);
      received.gradients.push_back(std::move(waiting_.front().gradient));
      waiting_.pop_front();
      --depth_;
    }
  }

  /// Folds all that waits now if `wanted` says so of one of its gradients, and calls
  /// `passed(waiting)` with each piece of it before its buffers go. The worker is not held up:
  /// until this is done it finds nothing here.
  template <typename Wanted, typename Passed>
  void fold(Wanted&& wanted, Passed&& passed) {
    std::deque<Waiting> load;
    std::shared_ptr<Bundle> sum;
    {
      const std::lock_guard lock(mutex_);
      const auto is_wanted = [&](const Waiting& w) { return w.gradient && wanted(*w.gradient); };
      if (folding_ || std::none_of(waiting_.begin(), waiting_.end(), is_wanted)) return;
      folding_ = true;
      std::swap(load, waiting_);
      sum = std::move(folded_);
    }
    try {
      if (!sum) sum = std::make_shared<Bundle>();
      while (!load.empty()) fold_piece(load, *sum, passed);
    } catch (...) {
      end_fold(std::move(sum), std::move(load));
      throw;
    }
    end_fold(std::move(sum), {});
  }

  /// Until there is something to take, somebody rings or the time is over.
  void wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    asleep_ = true;
    bell_.wait_for(lock, limit,
                   [this] { return rung_ || (!folding_ && (folded_ || !waiting_.empty())); });
    asleep_ = false;
    rung_ = false;
  }

  /// Gradients that wait, those in bundles included.
  std::size_t depth() const {
    const std::lock_guard lock(mutex_);
    return depth_;
  }

  void clear() {
    std::deque<Waiting> dropped;  // goes when the lock is free again
    std::shared_ptr<Bundle> folded;
    const std::lock_guard lock(mutex_);
    std::swap(dropped, waiting_);
    std::swap(folded, folded_);
    depth_ = 0;
  }

 private:
  // As many gradients as one pass over memory takes, or one bundle.
  template <typename Passed>
  void fold_piece(std::deque<Waiting>& load, Bundle& sum, Passed&& passed) {
    std::vector<Waiting> piece;
    std::vector<GradientPtr> gradients;
    if (load.front().bundle) {
      sum.add(*load.front().bundle);
      piece.push_back(load.front());
    } else {
      for (std::size_t k = 0; k < max_fused && k < load.size() && load[k].gradient; ++k) {
        gradients.push_back(load[k].gradient);
        piece.push_back(load[k]);
      }
      sum.add(gradients);
    }
    load.erase(load.begin(), load.begin() + static_cast<std::ptrdiff_t>(piece.size()));
    passed(piece);
  }

  void end_fold(std::shared_ptr<Bundle> sum, std::deque<Waiting> left) {
    bool somebody_waits = false;
    {
      const std::lock_guard lock(mutex_);
      if (sum && !sum->empty()) folded_ = std::move(sum);
      waiting_.insert(waiting_.begin(), left.begin(), left.end());
      folding_ = false;
      somebody_waits = ring();
    }
    if (somebody_waits) notify();
  }

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable bell_;
  std::shared_ptr<Bundle> folded_;  // older than what waits
  std::deque<Waiting> waiting_;
  std::size_t depth_ = 0;
  bool folding_ = false;  // somebody has what waited before, and brings it back as one bundle
  bool asleep_ = false;
  bool rung_ = false;
};

}  // namespace dasgd
