// A worker's place on a device: its memory, its stream, and moments in that stream.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <chrono>
#include <optional>
#include <thread>

#include "dasgd/adapters/torch/device/layout.hpp"
#include "dasgd/adapters/torch/device/own_stream.hpp"

namespace dasgd::torch_adapter {

/// The memory of a worker on a device: x as the network sees it, and the stream of its work.
struct DeviceMemory {
  TensorLayout layout;  ///< of x, and of all that is added to it there
  at::Tensor x;         ///< flat, float
  StreamPtr stream;     ///< of a GPU; work of other workers goes on beside it
};

/// Until it goes, this thread's work is on the worker's device and stream.
class Place {
 public:
  explicit Place(const DeviceMemory& memory) {
    if (memory.stream) guard_.reset_stream(*memory.stream);
  }

 private:
  c10::OptionalStreamGuard guard_;
};

/// A copy in memory of this machine into which a device writes at full speed; waits for it.
inline at::Tensor copy_of(const at::Tensor& there) {
  const auto options = at::TensorOptions().dtype(there.dtype());
  return at::empty(there.sizes(), options.pinned_memory(!there.is_cpu())).copy_(there);
}

/// A point in the work of a stream. On a CPU everything has happened when it is marked.
class DeviceMoment {
 public:
  void mark(const StreamPtr& stream) {
    if (!stream) return;
    if (!event_) event_.emplace(stream->device_type());
    event_->record(*stream);
  }
  bool passed() const { return !event_ || event_->query(); }
  /// What is put into the stream from now on begins after this moment.
  void hold_back(const c10::Stream& stream) const {
    if (event_) event_->block(stream);
  }
  /// Keeps this thread until the moment has passed.
  void wait() const {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    while (!passed()) {
      if (Clock::now() - begin < std::chrono::milliseconds(2)) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

 private:
  std::optional<c10::Event> event_;
};

}  // namespace dasgd::torch_adapter
