// The thread in which steps are tried out and recorded.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>

namespace dasgd::torch_adapter {

/// One for all workers of a network: cuDNN tries its implementations once per thread and remembers
/// the fastest there, and two that try at a time spoil each other's measurements.
class StepRecorder {
 public:
  StepRecorder();
  ~StepRecorder();
  StepRecorder(const StepRecorder&) = delete;
  StepRecorder& operator=(const StepRecorder&) = delete;

  /// Does `work` there, after what others gave before, and throws what it throws. Any thread.
  void run(const std::function<void()>& work);

 private:
  void serve();

  std::mutex mutex_;  // guards all below
  std::condition_variable given_;
  std::queue<std::packaged_task<void()>> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace dasgd::torch_adapter
