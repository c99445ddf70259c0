// Work of a GPU that is recorded once and then started as a whole.
#pragma once

#include <c10/core/Stream.h>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>

namespace dasgd::torch_adapter {

/// A CUDA graph. Owned by one thread.
class StepGraph {
 public:
  /// Why there are no graphs in this build or on this device; empty: there are.
  static std::string obstacle(at::Device device);

  /// To be held while a network computes without being recorded: libraries that try their
  /// implementations wait for all that the device does, and that must not be while anybody records.
  static std::shared_lock<std::shared_mutex> nobody_records(at::Device device);

  /// Records what `work` puts into this stream, which is the current one; nothing of it is done
  /// yet. Throws what LibTorch throws where something cannot be recorded.
  StepGraph(const c10::Stream& stream, const std::function<void()>& work);
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  /// Puts all of it into the stream that is current.
  void replay();

 private:
  struct Recorded;
  std::unique_ptr<Recorded> recorded_;
};

}  // namespace dasgd::torch_adapter
