// The thread that takes checkpoints while workers run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/runtime/boards/snapshot_board.hpp"

namespace dasgd {

/// The checkpoint at the end of a leg, from a worker that has applied everything: the whole leg is
/// in every replica, and every worker has given its memory. What `options.checkpoint.save` throws
/// becomes a warning.
template <typename Real>
void save_last_checkpoint(const TrainOptions& options, const Objective<Real>& objective,
                          const Worker<Real>& worker, const SnapshotBoard& board, double seconds,
                          std::uint32_t since_best);

/// Takes one every `options.checkpoint.every` until it goes away. Packing and writing happen on
/// this thread; workers only copy. Training goes on when the disk is full: there is a warning when
/// saving fails for the first time, when it works again and when it fails again.
class Checkpointer {
 public:
  using Clock = std::chrono::steady_clock;

  /// `start` is when the leg began; `since_best` is how many evaluations found nothing better,
  /// from any thread. All references must outlive this.
  Checkpointer(const TrainOptions& options, std::size_t dimension, std::size_t samples,
               Clock::time_point start, SnapshotBoard& board,
               std::function<std::uint32_t()> since_best);

 private:
  void run(std::stop_token stop);
  bool take(std::stop_token stop);

  const TrainOptions& options_;
  const std::size_t dimension_, samples_;
  const Clock::time_point start_;
  SnapshotBoard& board_;
  const std::function<std::uint32_t()> since_best_;
  std::mutex mutex_;  // of the pause between two
  std::condition_variable_any pause_;
  std::jthread thread_;
};

}  // namespace dasgd
