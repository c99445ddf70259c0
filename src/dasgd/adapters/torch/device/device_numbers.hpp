// An update that lies on a device, for the workers that share it.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "dasgd/adapters/torch/device/device_memory.hpp"
#include "dasgd/adapters/torch/device/integers.hpp"
#include "dasgd/core/gradient.hpp"

namespace dasgd::torch_adapter {

/// The origin writes it in its stream; replicas on the same device read it there, after the moment
/// at which it is written, in streams of their own. When its gradient returns to its pool, all of
/// them have read it: a replica holds a gradient until its device has added it.
class DeviceNumbers final : public NumbersElsewhere {
 public:
  DeviceNumbers(std::int64_t dimension, at::Device device);

  const DeviceUpdate& update() const { return update_; }
  const Moment& written() const { return written_; }
  /// In the origin's stream: copies what is there now.
  void write(const DeviceUpdate& from, const std::optional<c10::Stream>& stream);

  std::size_t size_in_bytes() const override { return update_.numbers.nbytes(); }
  bool ready() const override { return written_.passed(); }
  int fetch(std::span<std::byte> to) const override;

 private:
  DeviceUpdate update_;
  Moment written_;
};

}  // namespace dasgd::torch_adapter
