// Look-ahead where a replica lies on a device: core/compute_point.hpp on tensors.
#pragma once

#include <ATen/Tensor.h>
#include <memory>

#include "dasgd/adapters/torch/device/device_memory.hpp"
#include "dasgd/core/look_ahead_plan.hpp"
#include "dasgd/core/recent_updates.hpp"

namespace dasgd::torch_adapter {

/// Nothing here waits for the device: what it measures is read when it is there. Owned by one
/// thread, which has the worker's device and stream as its own meanwhile.
class DevicePoint {
 public:
  explicit DevicePoint(std::shared_ptr<DeviceMemory> memory)
      : memory_(std::move(memory)), recent_(Recent::most_blocks(memory_->x.nbytes())) {}

  /// Moves x on the device, which is the replica's, to y. The step that follows shows x again.
  void move_to_y(LookAheadPlan& plan);
  /// After an own update of -eta * direction, or of nothing where `diverged`, one number on the
  /// device, is not 0.
  void made(LookAheadPlan& plan, double eta, const at::Tensor& direction,
            const at::Tensor& diverged);

 private:
  using Recent = RecentUpdates<at::Tensor>;
  void follow(const LookAheadPlan& plan);
  /// Numbers that the device writes, one double each.
  struct Answer {
    at::Tensor numbers;
    DeviceMoment written;
    bool awaited = false;

    void ask(const at::Tensor& there, const StreamPtr& stream);
    bool is_there() { return awaited && written.passed(); }
  };

  const std::shared_ptr<DeviceMemory> memory_;
  Recent recent_;
  at::Tensor compared_;  // the last direction that was
  at::Tensor last_y_;    // where y continues from it
  std::uint64_t generation_ = 0;
  Answer products_, gap_;
};

}  // namespace dasgd::torch_adapter
