// What a worker's thread tells the thread that watches.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "dasgd/core/names.hpp"
#include "dasgd/core/time.hpp"
#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

/// A worker's figures at some recent moment.
struct WorkerFigures {
  std::uint64_t t = 0;
  std::uint32_t computed = 0;
  std::uint64_t samples = 0;
  std::optional<double> loss;
  StalenessStatistics S;
  std::optional<std::uint64_t> W;
  std::uint64_t folded = 0;
  Nanoseconds waited = 0;
  bool out_of_samples = false;
  bool finished = false;
};

/// All that a thread that watches can know of a worker, here or elsewhere.
struct WorkerSight {
  WorkerId worker{};
  WorkerFigures figures;
  std::uint64_t applications = 0;
  std::uint32_t computed = 0;
  bool without_sample = false;  ///< its source has none now
  std::size_t inbox_depth = 0;
  std::optional<std::uint64_t> announced_total;
};

/// Written by one worker's thread, read by any.
template <typename Real>
class WorkerStatus {
 public:
  void publish(const WorkerFigures& figures) {
    const std::lock_guard lock(mutex_);
    figures_ = figures;
  }
  WorkerFigures figures() const {
    const std::lock_guard lock(mutex_);
    return figures_;
  }

  /// Asks for a copy of the model; the worker makes it between two steps.
  void want_model() { model_wanted_.store(true, std::memory_order_relaxed); }
  bool model_wanted() const { return model_wanted_.load(std::memory_order_relaxed); }
  void publish_model(std::span<const Real> x) {
    const std::lock_guard lock(mutex_);
    model_.assign(x.begin(), x.end());
    model_wanted_.store(false, std::memory_order_relaxed);
    ++models_published_;
    model_published_.notify_all();
  }
  /// Asks for a model, waits until the worker has made it, and copies it. False if a stop is
  /// requested first.
  bool wait_for_model(std::stop_token stop, std::vector<Real>& to) {
    std::unique_lock lock(mutex_);
    const std::uint64_t before = models_published_;
    want_model();
    if (!model_published_.wait(lock, stop, [&] { return models_published_ != before; }))
      return false;
    to = model_;
    return true;
  }
  /// Copies the last published model; leaves `to` as it is when there is none.
  void copy_model(std::vector<Real>& to) const {
    const std::lock_guard lock(mutex_);
    if (!model_.empty()) to = model_;
  }

  /// For telling progress from a stall, and whom it waits for.
  std::atomic<std::uint64_t> applications{0};
  std::atomic<std::uint32_t> computed{0};
  std::atomic<bool> without_sample{false};  ///< its source has none now

 private:
  std::atomic<bool> model_wanted_{false};
  mutable std::mutex mutex_;  // guards all below
  WorkerFigures figures_;
  std::vector<Real> model_;
  std::uint64_t models_published_ = 0;
  std::condition_variable_any model_published_;
};

}  // namespace dasgd
