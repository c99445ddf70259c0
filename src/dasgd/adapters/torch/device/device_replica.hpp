// An exact replica in the memory of a device.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/adapters/torch/device/device_memory.hpp"
#include "dasgd/adapters/torch/device/integers/integers.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd::torch_adapter {

/// The same integers as on the host, added on the device: two replicas that applied the same
/// updates hold the same bits wherever they live. Updates that lie on the same device are added
/// there, those on another device are copied from device to device, those of this machine to it;
/// nothing waits for the device but those who ask for numbers on this machine: reports, digests,
/// checkpoints, rules that only know this machine's memory.
class DeviceReplica final : public Replica<float> {
 public:
  /// `integers`: how it adds; null: as is fastest there.
  DeviceReplica(std::span<const float> x0, std::shared_ptr<DeviceMemory> memory,
                const Integers* integers = nullptr);

  /// Brings x in the memory of the device up to date.
  void refresh();
  /// Puts another point there until the next update or `refresh`.
  void show(std::span<const float> point);

  /// For a step that happens on the device, in its stream: the sums and x, which it changes, ...
  const at::Tensor& sums_there() const { return sums_; }
  const Integers& integers() const { return integers_; }
  const at::Tensor& notes() const { return notes_; }
  const std::shared_ptr<DeviceMemory>& memory() const { return memory_; }
  /// ... and what is to be called after it.
  void stepped();
  /// After the device has reported that x left the range of its numbers.
  void find_out_of_range();

  std::size_t dimension() const override { return static_cast<std::size_t>(sums_.numel()); }
  void restore(std::span<const Sum<float>> sums) override;
  std::span<const float> x() override;
  std::span<const Sum<float>> sums() const override;
  void apply(std::span<const GradientPtr> gradients) override;
  void apply(const Bundle& bundle) override;
  std::optional<std::size_t> apply_own(double eta, std::span<const float> gradient,
                                       Update& update) override;
  std::optional<std::size_t> diverged_at() const override { return diverged_at_; }

 private:
  struct Held {
    DeviceMoment added = {};
    std::vector<GradientPtr> gradients = {};
    at::Tensor sums = {};  // of a bundle
  };
  void hold(Held what);
  void changed(bool x_too = false);
  UpdateTensors on_this_device(const Update& update) const;
  void release_held_updates();

  const std::shared_ptr<DeviceMemory> memory_;
  const Integers& integers_;
  at::Tensor sums_;   // int64
  at::Tensor notes_;  // see StepNotes
  bool x_is_current_ = false;
  std::optional<std::size_t> diverged_at_;
  std::deque<Held> held_;  // until the device has added them
  // Copies on this machine, not there unless somebody has asked since the last change.
  at::Tensor fetched_x_;
  mutable at::Tensor fetched_sums_;
};

}  // namespace dasgd::torch_adapter
