// Real cores for gradients that overlap in virtual time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "dasgd/core/worker.hpp"

namespace dasgd {

/// A few threads that make steps ahead of the event loop. With one thread or fewer there are none.
class WorkersAhead {
 public:
  explicit WorkersAhead(unsigned threads) {
    for (unsigned i = 0; threads > 1 && i < threads; ++i)
      threads_.emplace_back([this](std::stop_token end) { work(end); });
  }

  bool running() const { return !threads_.empty(); }

  std::future<StepReport> run(std::function<StepReport()> step) {
    std::packaged_task<StepReport()> task(std::move(step));
    auto result = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    ready_.notify_one();
    return result;
  }

 private:
  void work(std::stop_token end) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!ready_.wait(lock, end, [this] { return !tasks_.empty(); })) return;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;  // guards the tasks
  std::condition_variable_any ready_;
  std::deque<std::packaged_task<StepReport()>> tasks_;
  std::vector<std::jthread> threads_;
};

}  // namespace dasgd
