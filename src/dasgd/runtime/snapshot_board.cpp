#include "dasgd/runtime/snapshot_board.hpp"

#include <utility>

namespace dasgd {
namespace {

std::vector<WorkerMemory> copies_of(const std::vector<std::shared_ptr<const WorkerMemory>>& given) {
  std::vector<WorkerMemory> copies;
  for (const auto& memory : given) copies.push_back(memory ? *memory : WorkerMemory{});
  return copies;
}

}  // namespace

void SnapshotBoard::ask() {
  {
    const std::lock_guard lock(mutex_);
    replica_.reset();
    answers_ = 0;
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (last_[i]) memories_[i] = std::move(last_[i]);
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
  auto snapshot = std::exchange(replica_, std::nullopt);
  const auto given = memories_;
  lock.unlock();  // copies may be large
  snapshot->memories = copies_of(given);
  return snapshot;
}

std::vector<WorkerMemory> SnapshotBoard::memories() const {
  std::vector<std::shared_ptr<const WorkerMemory>> given;
  {
    const std::lock_guard lock(mutex_);
    given = memories_;
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (last_[i]) given[i] = last_[i];
  }
  return copies_of(given);  // without the lock: they may be large
}

void SnapshotBoard::give_replica(std::span<const std::byte> sums, const GradientSet& applied,
                                 std::uint64_t samples) {
  ReplicaSnapshot snapshot{{sums.begin(), sums.end()}, applied, samples};
  const std::lock_guard lock(mutex_);
  replica_ = std::move(snapshot);
  given_.notify_all();
}

void SnapshotBoard::give_memory(WorkerId worker, WorkerMemory memory) {
  const bool asked = wanted_[index(worker)].exchange(false);
  if (others_.give_memory) return others_.give_memory(worker, memory);
  auto given = std::make_shared<const WorkerMemory>(std::move(memory));
  const std::lock_guard lock(mutex_);
  std::swap((asked ? memories_ : last_)[index(worker)], given);
  answers_ += asked ? 1 : 0;
  given_.notify_all();
}

}  // namespace dasgd
