#include "dasgd/runtime/control.hpp"

#include <sys/prctl.h>

namespace dasgd {

void Control::stop(StopReason reason) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_.exchange(true)) return;
    reason_ = reason;
  }
  stopped_.notify_all();
  on_stop_();
}

std::optional<StopReason> Control::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

void Control::fail(std::exception_ptr failure, StopReason reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
  }
  stop(reason);
}

void Control::abandon(std::exception_ptr failure) {
  abandoned_.store(true);
  fail(failure);
  on_stop_();  // whoever waits looks again
}

std::exception_ptr Control::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Control::sleep_for(std::chrono::nanoseconds duration) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  std::unique_lock lock(mutex_);
  stopped_.wait_for(lock, duration, [this] { return stopping() || sleeps_ended_; });
}

void Control::end_sleeps() {
  {
    const std::lock_guard lock(mutex_);
    sleeps_ended_ = true;
  }
  stopped_.notify_all();
}

void Control::worker_finished() {
  const std::lock_guard lock(mutex_);
  ++finished_workers_;
  finished_.notify_all();
}

bool Control::wait_finished(std::size_t workers, std::chrono::steady_clock::time_point limit) {
  std::unique_lock lock(mutex_);
  return finished_.wait_until(lock, limit, [&] { return finished_workers_ >= workers; });
}

}  // namespace dasgd
