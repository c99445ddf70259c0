// What all threads of a run share: whether to stop, why, and the first failure.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "dasgd/record/stop_reason.hpp"

namespace dasgd {

/// Any thread may call any of this.
class Control {
 public:
  /// `on_stop` wakes whoever waits; it is called on the thread that asks for the stop.
  explicit Control(std::function<void()> on_stop) : on_stop_(std::move(on_stop)) {}

  /// Workers are to stop computing, drain and end. The first reason counts.
  void stop(StopReason reason);
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }
  const std::atomic<bool>& stop_flag() const { return stopping_; }
  /// Why the run was stopped; nothing when it was not.
  std::optional<StopReason> reason() const;

  /// Stops the run because of an exception; the first one counts.
  void fail(std::exception_ptr failure, StopReason reason = StopReason::failed);
  std::exception_ptr failure() const;

  /// The run cannot be drained any more (a thread could not start, memory ran out): workers are to
  /// end at once, with gradients missing. Only ever after a failure.
  void abandon(std::exception_ptr failure);
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  /// Sleeps, as an emulated slow worker does; but not longer than until the run is stopped or
  /// nothing more is to be computed. Timers of the calling thread become exact (by default Linux
  /// may let them be 50 us late).
  void sleep_for(std::chrono::nanoseconds duration);
  /// The budget is used up: nobody sleeps any longer to be slow.
  void end_sleeps();

  /// A worker has computed, announced and applied everything.
  void worker_finished();
  /// Waits until `workers` have finished, or until `limit`; true if they have.
  bool wait_finished(std::size_t workers, std::chrono::steady_clock::time_point limit);

 private:
  const std::function<void()> on_stop_;
  std::atomic<bool> stopping_{false}, abandoned_{false};
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable stopped_, finished_;
  bool sleeps_ended_ = false;
  std::size_t finished_workers_ = 0;
  std::optional<StopReason> reason_;
  std::exception_ptr failure_;
};

}  // namespace dasgd
