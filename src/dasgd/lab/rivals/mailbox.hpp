// Where letters wait for a participant that has a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "dasgd/lab/rivals/rival.hpp"

namespace dasgd {

/// Many put, one takes. Letters of one sender come in the order of sending.
template <typename Real>
class Mailbox {
 public:
  using Clock = std::chrono::steady_clock;

  void put(RivalMessage<Real> letter) {
    {
      const std::lock_guard lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    arrived_.notify_one();
  }
  /// Waits for a letter until then; nothing when the time has come or a stop is asked for.
  std::optional<RivalMessage<Real>> take(Clock::time_point until, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    arrived_.wait_until(lock, stop, until, [&] { return !letters_.empty(); });
    if (letters_.empty() || stop.stop_requested()) return std::nullopt;
    RivalMessage<Real> letter = std::move(letters_.front());
    letters_.pop_front();
    return letter;
  }

 private:
  std::mutex mutex_;  // guards the letters
  std::condition_variable_any arrived_;
  std::deque<RivalMessage<Real>> letters_;
};

}  // namespace dasgd
