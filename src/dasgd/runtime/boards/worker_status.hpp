// What a worker's thread reports to the monitoring thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "dasgd/base/time.hpp"
#include "dasgd/core/look_ahead.hpp"
#include "dasgd/core/names.hpp"
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
  std::optional<LookAheadFigures> look_ahead;
  std::uint64_t folded = 0;
  Nanoseconds waited = 0;
  bool out_of_samples = false;
  bool finished = false;
};

/// All that a thread that watches can know of a worker, here or elsewhere.
struct WorkerView {
  WorkerId worker{};
  WorkerFigures figures;
  std::uint64_t applications = 0;
  std::uint32_t computed = 0;
  bool without_sample = false;  ///< its source has none now
  std::size_t inbox_depth = 0;
  std::optional<std::uint64_t> announced_total;
};

/// Written by one worker's thread, read by any.
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

  /// For distinguishing progress from a stall, and whom it waits for.
  std::atomic<std::uint64_t> applications{0};
  std::atomic<std::uint32_t> computed{0};
  std::atomic<bool> without_sample{false};  ///< its source has none now

 private:
  mutable std::mutex mutex_;  // guards the next
  WorkerFigures figures_;
};

}  // namespace dasgd
