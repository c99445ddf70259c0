// Updates and their sums that lie on a device, for the workers of a process.
#pragma once

#include <memory>
#include <span>

#include "dasgd/adapters/torch/device/device_memory.hpp"
#include "dasgd/adapters/torch/device/integers/integers.hpp"
#include "dasgd/core/bundle.hpp"

namespace dasgd::torch_adapter {

/// The origin writes it in its stream; replicas read it there, after the moment at which it is
/// written, in streams of their own; those on other devices copy it from device to device. When its
/// gradient returns to its pool, all of them have read it: a replica holds a gradient until its
/// device has added it.
class TorchUpdate final : public DeviceUpdate {
 public:
  TorchUpdate(std::int64_t dimension, at::Device device, TensorLayout layout = {});
  /// Of updates that others send: on the device, or in this machine's memory where that has no
  /// room.
  static std::shared_ptr<TorchUpdate> room(std::int64_t dimension, at::Device device,
                                           const TensorLayout& layout);

  const UpdateTensors& update() const { return update_; }
  /// The same on `device`, for what is put into `stream` from now on.
  UpdateTensors on(at::Device device, const StreamPtr& stream) const;
  /// By the origin, when the writing has been put into its stream.
  void mark_written(const StreamPtr& stream) { written_.mark(stream); }

  std::size_t size_in_bytes() const override { return update_.numbers.nbytes(); }
  bool ready() const override;
  int fetch(std::span<std::byte> to) const override;
  std::span<std::byte> memory() override;
  std::shared_ptr<DeviceSums> zero_sums() const override;

 private:
  void hold_back_copies() const;
  void wait_for_earlier_use() const;

  const TensorLayout layout_;
  at::Tensor all_;  // int32, flat: the numbers and the shift
  UpdateTensors update_;
  DeviceMoment written_;
};

/// What waits for a worker that is behind, folded where it lies: in a stream of its own, so that
/// no worker's step is in the way.
class TorchSums final : public DeviceSums {
 public:
  /// Null where the device has no room.
  static std::shared_ptr<TorchSums> make(std::int64_t dimension, at::Device device,
                                         const TensorLayout& layout);

  /// int64, complete at any time.
  const at::Tensor& sums() const { return sums_; }

  bool add(std::span<const GradientPtr> gradients) override;
  bool add(const DeviceSums& other) override;
  std::shared_ptr<DeviceSums> zero_sums() const override;
  void fetch(std::span<std::byte> to) const override;

 private:
  TorchSums(std::int64_t dimension, at::Device device, const TensorLayout& layout);
  template <typename Work>
  void complete(Work&& work);

  const TensorLayout layout_;
  StreamPtr stream_;
  at::Tensor sums_;
};

}  // namespace dasgd::torch_adapter
