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
#include "dasgd/transport/parcel.hpp"

namespace dasgd {

/// Gradients and bundles in the order of their arrival, each with whence it came. One worker takes,
/// any thread adds. What waits for a worker that is behind can be folded into bundles, by whoever
/// wants the buffers back. Its owner may keep more under the same lock: the functions that say so
/// want it held.
template <typename From>
class Inbox {
 public:
  struct Waiting {
    Parcel parcel;
    From from;
  };

  std::mutex& mutex() const { return mutex_; }

  /// With the lock held.
  void add(Parcel parcel, From from) {
    depth_ += parcel.size();
    waiting_.push_back({std::move(parcel), from});
  }
  /// With the lock held: the next `wait` ends at once. True if a thread waits now, which is to be
  /// woken by `notify` when the lock is free.
  [[nodiscard]] bool ring() {
    rung_ = true;
    return asleep_;
  }
  void notify() { bell_.notify_one(); }

  /// Adds it and wakes the worker if it waits.
  void deliver(Parcel parcel, From from) {
    bool somebody_waits = false;
    {
      const std::lock_guard lock(mutex_);
      add(std::move(parcel), from);
      somebody_waits = ring();
    }
    if (somebody_waits) notify();
  }

  void wake() {
    bool somebody_waits = false;
    {
      const std::lock_guard lock(mutex_);
      somebody_waits = ring();
    }
    if (somebody_waits) notify();
  }

  /// Up to `limit` gradients, or the bundle that comes first; `from` gets whence gradients came.
  void take(std::size_t limit, Received& received, std::vector<From>& from) {
    from.clear();
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty() && waiting_.front().parcel.bundle) {
      received.bundle = std::move(waiting_.front().parcel.bundle);
      depth_ -= received.bundle->size();
      pop_front();
      return;
    }
    for (; limit > 0 && !waiting_.empty() && waiting_.front().parcel.gradient; --limit) {
      from.push_back(waiting_.front().from);
      received.gradients.push_back(std::move(waiting_.front().parcel.gradient));
      --depth_;
      pop_front();
    }
  }

  void take(std::size_t limit, Received& received) {
    std::vector<From> from;
    take(limit, received, from);
  }

  /// Folds the newer half of what waits if `wanted` says so of one of its gradients, and calls
  /// `passed(waiting)` with what was folded. The worker sees everything all the while: if it gets
  /// as far meanwhile as what is being folded, it is not behind, and all stays as it was.
  template <typename Wanted, typename Passed>
  void fold(Wanted&& wanted, Passed&& passed) {
    const auto is_wanted = [&](const Waiting& w) {
      return w.parcel.gradient && wanted(*w.parcel.gradient);
    };
    fold_from([&] { return first_to_fold(0); },
              [&](auto begin, auto end) { return std::any_of(begin, end, is_wanted); }, passed);
  }

  /// The same where bundles come over links: for their memory, not for buffers of gradients. So k
  /// gradients that wait take at most 2 + log2(k) bundles after it.
  template <typename Passed>
  void fold_bundles(Passed&& passed) {
    fold_from([&] { return first_to_fold(1); },
              [](auto begin, auto end) { return end - begin > 1; }, passed);
  }

  /// Until there is something to take, somebody rings or the time is over.
  void wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    asleep_ = true;
    bell_.wait_for(lock, limit, [this] { return rung_ || !waiting_.empty(); });
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
    const std::lock_guard lock(mutex_);
    std::swap(dropped, waiting_);
    depth_ = 0;
  }

 private:
  template <typename First, typename Pays, typename Passed>
  void fold_from(First&& first_of_all, Pays&& pays, Passed&& passed) {
    std::vector<Waiting> load;
    std::uint64_t place = 0;  // of the first of them, counted from the first that ever waited
    {
      const std::lock_guard lock(mutex_);
      const std::size_t first = first_of_all();
      const auto begin = waiting_.begin() + static_cast<std::ptrdiff_t>(first);
      if (folding_ || !pays(begin, waiting_.end())) return;
      load.assign(begin, waiting_.end());
      place = taken_ + first;
      folding_ = true;
    }
    std::shared_ptr<Bundle> sum;
    try {
      sum = sum_of(load);
    } catch (...) {
      replace(place, load.size(), nullptr, load.back().from);
      throw;
    }
    if (replace(place, load.size(), std::move(sum), load.back().from)) passed(load);
  }

  void pop_front() {
    waiting_.pop_front();
    ++taken_;
  }

  // From the back: gradients, and bundles that are not much larger than what is behind them, as
  // when a counter carries; so k gradients take log2(k) bundles, and each is copied as often at
  // most. So many at the back are taken whatever their size.
  std::size_t first_to_fold(std::size_t in_any_case) const {
    std::size_t first = waiting_.size(), gradients = 0;
    for (; first > waiting_.size() / 2; --first) {
      const Parcel& parcel = waiting_[first - 1].parcel;
      const bool is_large = parcel.bundle && parcel.size() > 2 * gradients;
      if (is_large && waiting_.size() - first >= in_any_case) break;
      gradients += parcel.size();
    }
    return first;
  }

  static std::shared_ptr<Bundle> sum_of(const std::vector<Waiting>& load) {
    const auto sum = std::make_shared<Bundle>();
    std::vector<GradientPtr> row;
    const auto add_row = [&] {
      sum->add(row);
      row.clear();
    };
    for (const auto& [parcel, from] : load) {
      if (parcel.gradient) row.push_back(parcel.gradient);
      if (parcel.bundle || row.size() == max_fused) add_row();
      if (parcel.bundle) sum->add(*parcel.bundle);
    }
    add_row();
    return sum;
  }

  // False, and nothing has changed, if the worker was faster, or without a sum.
  bool replace(std::uint64_t place, std::size_t count, std::shared_ptr<Bundle> sum, From from) {
    const std::lock_guard lock(mutex_);
    folding_ = false;
    if (!sum || taken_ > place) return false;
    const auto begin = waiting_.begin() + static_cast<std::ptrdiff_t>(place - taken_);
    *begin = {BundlePtr(std::move(sum)), from};
    waiting_.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(count));
    return true;
  }

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable bell_;
  std::deque<Waiting> waiting_;
  std::size_t depth_ = 0;    // gradients in it
  std::uint64_t taken_ = 0;  // entries that have left at the front
  bool folding_ = false;     // somebody makes a bundle of the last entries
  bool asleep_ = false;
  bool rung_ = false;
};

}  // namespace dasgd
