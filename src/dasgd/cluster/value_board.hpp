// Values that ranks give each other while a run goes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dasgd {

/// In rounds: the k-th value of a rank belongs to the k-th of all others. Nobody waits for a rank
/// that will give no more, nor after the end of the run. Any thread.
class ValueBoard {
 public:
  /// To all others; nothing: the last word.
  using Send = std::function<void(const std::optional<std::string>&)>;

  ValueBoard(std::size_t ranks, std::size_t self) : given_(ranks), ended_(ranks), self_(self) {}

  // The run's side.
  void open(Send send) {
    const std::lock_guard lock(mutex_);
    send_ = std::move(send);
  }
  void hear(std::size_t rank, std::optional<std::string> value) {
    const std::lock_guard lock(mutex_);
    take(rank, std::move(value));
  }
  /// Nothing is sent or heard any more.
  void close() {
    const std::lock_guard lock(mutex_);
    send_ = nullptr;
    closed_ = true;
    changed_.notify_all();
  }

  // The caller's side.
  /// Gives a value; its round. Nothing: no more will come.
  std::size_t give(const std::optional<std::string>& value) {
    const std::lock_guard lock(mutex_);
    if (ended_[self_]) return given_[self_].size();
    take(self_, value);
    if (send_) send_(value);
    return given_[self_].size() - 1;
  }
  /// The values of a round by rank, without those that will not come; nothing: some may still.
  std::optional<std::vector<std::optional<std::string>>> wait_for(std::size_t round,
                                                                  std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [&] { return is_complete(round); })) return std::nullopt;
    std::vector<std::optional<std::string>> values(given_.size());
    for (std::size_t r = 0; r < given_.size(); ++r)
      if (round < given_[r].size()) values[r] = std::exchange(given_[r][round], {});
    return values;
  }

 private:
  void take(std::size_t rank, std::optional<std::string> value) {
    if (value)
      given_[rank].push_back(std::move(*value));
    else
      ended_[rank] = true;
    changed_.notify_all();
  }
  bool is_complete(std::size_t round) const {
    if (closed_) return true;
    for (std::size_t r = 0; r < given_.size(); ++r)
      if (given_[r].size() <= round && !ended_[r]) return false;
    return true;
  }

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<std::vector<std::string>> given_;  // by rank, by round
  std::vector<bool> ended_;
  Send send_;
  bool closed_ = false;
  const std::size_t self_;
};

}  // namespace dasgd
