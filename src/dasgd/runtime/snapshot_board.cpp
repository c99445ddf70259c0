#include "dasgd/runtime/snapshot_board.hpp"

#include <utility>

namespace dasgd {

void SnapshotBoard::ask() {
  {
    const std::lock_guard lock(mutex_);
    replica_.reset();
    answers_ = 0;
  }
  replica_wanted_.store(true);
  ask_memories();
  if (others_.ask) others_.ask();
}

void SnapshotBoard::ask_memories() {
  for (auto& wanted : wanted_) wanted.store(true);
}

std::optional<ReplicaSnapshot> SnapshotBoard::wait(std::stop_token stop,
                                                   std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  if (!given_.wait(lock, stop, [this] { return replica_.has_value(); })) return std::nullopt;
  given_.wait_for(lock, stop, grace, [this] { return answers_ >= memories_.size(); });
  return std::exchange(replica_, std::nullopt);
}

std::vector<WorkerMemory> SnapshotBoard::memories() const {
  std::vector<std::shared_ptr<const WorkerMemory>> given;
  {
    const std::lock_guard lock(mutex_);
    given = memories_;
  }
  std::vector<WorkerMemory> copies;  // made without the lock: they may be large
  for (const auto& memory : given) copies.push_back(memory ? *memory : WorkerMemory{});
  return copies;
}

void SnapshotBoard::give_replica(std::span<const std::byte> sums, const GradientSet& applied,
                                 std::uint64_t samples) {
  ReplicaSnapshot snapshot{{sums.begin(), sums.end()}, applied, samples};
  const std::lock_guard lock(mutex_);
  replica_ = std::move(snapshot);
  given_.notify_all();
}

void SnapshotBoard::give_memory(WorkerId worker, WorkerMemory memory) {
  wanted_[index(worker)].store(false);
  if (others_.give_memory) return others_.give_memory(worker, memory);
  auto given = std::make_shared<const WorkerMemory>(std::move(memory));
  const std::lock_guard lock(mutex_);
  std::swap(memories_[index(worker)], given);
  ++answers_;
  given_.notify_all();
}

}  // namespace dasgd
