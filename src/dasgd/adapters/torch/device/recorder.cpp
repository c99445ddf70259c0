#include "dasgd/adapters/torch/device/recorder.hpp"

#include <utility>

namespace dasgd::torch_adapter {

StepRecorder::StepRecorder() : thread_([this] { serve(); }) {}

StepRecorder::~StepRecorder() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  given_.notify_one();
  thread_.join();
}

void StepRecorder::run(const std::function<void()>& work) {
  std::packaged_task<void()> task(work);
  auto done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push(std::move(task));
  }
  given_.notify_one();
  done.get();
}

void StepRecorder::serve() {
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
