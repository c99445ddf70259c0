// What a worker's thread reports to the monitoring thread.
#pragma once

#include <atomic>
#include <mutex>

#include "dasgd/core/names.hpp"
#include "dasgd/run/worker_figures.hpp"

namespace dasgd {

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
