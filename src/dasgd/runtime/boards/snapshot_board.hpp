// Where the workers of a process leave what a checkpoint needs, when they are asked.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"

namespace dasgd {

/// A replica and the gradients in it, at one moment, and what each worker gave when it was asked
/// for that; empty if it never did.
struct ReplicaSnapshot {
  Bytes sums;
  GradientSet applied;
  std::uint64_t samples = 0;  ///< in those gradients
  std::vector<CarryOver> carry_overs = {};
};

/// Where workers run in several processes: what one board sends to the others.
struct OtherBoards {
  std::function<void()> ask = {};  ///< asks the workers there
  /// Takes a memory to the process that writes checkpoints; then none is kept here.
  std::function<void(WorkerId, const CarryOver&)> give_carry_over = {};
};

/// Nobody waits: workers answer between two steps, and the first to answer gives its replica, so a
/// slow one holds nothing up. A worker that has not answered yet is represented by what it gave
/// last time. At its end every worker gives its memory once more, unasked; a checkpoint that is
/// being made then keeps what belongs to its replica.
class SnapshotBoard {
 public:
  /// `workers` are those of all processes.
  explicit SnapshotBoard(std::size_t workers, OtherBoards others = {})
      : others_(std::move(others)), wanted_(workers), memories_(workers), last_(workers) {}

  /// For the thread that writes checkpoints. Asks every worker.
  void ask();
  /// For the carry_overs alone. Any thread.
  void ask_memories();
  /// Waits for a replica, and then for the carry_overs of all until `grace` has passed. Nothing if
  /// a stop is requested first.
  std::optional<ReplicaSnapshot> wait(std::stop_token stop, std::chrono::milliseconds grace);
  /// What each worker gave last; empty if it never did.
  std::vector<CarryOver> carry_overs() const;

  /// For workers, on their own threads, or in the name of one elsewhere.
  bool wanted(WorkerId worker) const {
    return wanted_[index(worker)].load(std::memory_order_relaxed);
  }
  /// True for the first that calls it after `ask`; it then gives its replica.
  bool claim_replica() { return replica_wanted_.exchange(false); }
  void give_replica(std::span<const std::byte> sums, const GradientSet& applied,
                    std::uint64_t samples);
  void give_carry_over(WorkerId worker, CarryOver carry_over);

 private:
  const OtherBoards others_;
  std::vector<std::atomic<bool>> wanted_;
  std::atomic<bool> replica_wanted_{false};
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable_any given_;
  std::optional<ReplicaSnapshot> replica_;
  std::vector<std::shared_ptr<const CarryOver>> memories_;  // null: not given yet
  std::vector<std::shared_ptr<const CarryOver>> last_;      // given unasked, since the last `ask`
  std::size_t answers_ = 0;
};

}  // namespace dasgd
