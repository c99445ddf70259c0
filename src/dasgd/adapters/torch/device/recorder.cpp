#include "dasgd/adapters/torch/device/recorder.hpp"

#include <utility>

namespace dasgd::torch_adapter {

Recorder::Recorder() : thread_([this] { serve(); }) {}

Recorder::~Recorder() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  given_.notify_one();
  thread_.join();
}

void Recorder::run(const std::function<void()>& work) {
  std::packaged_task<void()> task(work);
  auto done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push(std::move(task));
  }
  given_.notify_one();
  done.get();
}

void Recorder::serve() {
  for (std::unique_lock lock(mutex_);;) {
    given_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto next = std::move(waiting_.front());
    waiting_.pop();
    lock.unlock();
    next();
    lock.lock();
  }
}

}  // namespace dasgd::torch_adapter
