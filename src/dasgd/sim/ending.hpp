// Why a simulated run stops, and how long what is under way is waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "dasgd/record/stop_reason.hpp"

namespace dasgd {

/// Deliveries and applications that a run makes after an interrupt before it gives the rest up.
inline constexpr std::uint64_t most_after_an_interrupt = 1'000'000;

/// The first reason counts. What is under way is still delivered, unless it is given up.
class Ending {
 public:
  void stop(StopReason reason) {
    if (!std::exchange(stopping_, true)) reason_ = reason;
  }
  void fail(std::exception_ptr failure, StopReason reason) {
    if (!failure_) failure_ = failure;
    stop(reason);
  }
  /// One more worker has reached its target; when all have, the run stops.
  void target_reached(std::size_t workers) {
    if (++reached_ == workers) stop(StopReason::target);
  }
  /// Deliveries and applications.
  void worked(std::uint64_t count) {
    if (stopping_) work_since_stop_ += count;
  }

  bool is_stopping() const { return stopping_; }
  std::optional<StopReason> reason() const { return reason_; }
  std::exception_ptr failure() const { return failure_; }
  bool is_given_up() const {
    return reason_ == StopReason::interrupted && work_since_stop_ >= most_after_an_interrupt;
  }

 private:
  bool stopping_ = false;
  std::optional<StopReason> reason_;
  std::exception_ptr failure_;
  std::uint64_t work_since_stop_ = 0;
  std::size_t reached_ = 0;
};

}  // namespace dasgd
