// An exact replica in the memory of a device.
#pragma once

#include <memory>
#include <vector>

#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd::torch_adapter {

/// The same integers as on the host, added on the device: two replicas that applied the same
/// updates hold the same bits wherever they live. x goes from the sums to the network's parameters
/// without leaving the device; the host's copies are for rules, reports and digests. An own
/// gradient is rounded on the host, where it has to be for sending.
class DeviceReplica final : public Replica<float> {
 public:
  DeviceReplica(std::span<const float> x0, std::shared_ptr<DeviceMemory> memory);

  void restore(std::span<const Sum<float>> sums) override;
  std::span<const float> x() override;
  void apply(std::span<const GradientPtr> gradients) override;
  void apply(const Bundle& bundle) override;
  std::optional<std::size_t> apply_own(double eta, std::span<const float> gradient,
                                       Update& update) override;
  std::span<const Sum<float>> sums() const override;

 private:
  /// The sums of the base class go to the device.
  void upload();
  void add(const Update& update);

  const std::shared_ptr<DeviceMemory> memory_;
  at::Tensor sums_on_device_;                // int64
  mutable std::vector<Sum<float>> fetched_;  // what `sums` shows
};

}  // namespace dasgd::torch_adapter
