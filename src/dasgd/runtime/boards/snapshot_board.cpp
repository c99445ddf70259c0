#include "dasgd/runtime/boards/snapshot_board.hpp"

#include <utility>

namespace dasgd {
namespace {

std::vector<CarryOver> copies_of(const std::vector<std::shared_ptr<const CarryOver>>& given) {
  std::vector<CarryOver> copies;
  for (const auto& one : given) copies.push_back(one ? *one : CarryOver{});
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
  snapshot->carry_overs = copies_of(given);
  return snapshot;
}

std::vector<CarryOver> SnapshotBoard::carry_overs() const {
  std::vector<std::shared_ptr<const CarryOver>> given;
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

void SnapshotBoard::give_carry_over(WorkerId worker, CarryOver carry_over) {
  const bool asked = wanted_[index(worker)].exchange(false);
  if (others_.give_carry_over) return others_.give_carry_over(worker, carry_over);
  auto given = std::make_shared<const CarryOver>(std::move(carry_over));
  const std::lock_guard lock(mutex_);
  std::swap((asked ? memories_ : last_)[index(worker)], given);
  answers_ += asked ? 1 : 0;
  given_.notify_all();
}

}  // namespace dasgd
