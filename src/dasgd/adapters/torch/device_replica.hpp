// An exact replica in the memory of a device.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd::torch_adapter {

/// The same integers as on the host, added on the device: two replicas that applied the same
/// updates hold the same bits wherever they live. x goes from the sums to the network's parameters
/// without leaving the device; this machine has a copy of either only while somebody asks for it:
/// rules that need x, reports, digests. An own gradient is rounded on the host, where it has to be
/// for sending.
class DeviceReplica final : public Replica<float> {
 public:
  DeviceReplica(std::span<const float> x0, std::shared_ptr<DeviceMemory> memory);

  /// Brings x in the memory of the device up to date.
  void refresh();

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
  void add(const Update& update);
  /// After every change of the sums.
  void changed();

  const std::shared_ptr<DeviceMemory> memory_;
  at::Tensor sums_;  // int64
  bool x_is_current_ = false;
  std::optional<std::size_t> diverged_at_;
  // Copies on this machine, empty unless somebody has asked since the last change.
  std::vector<float> fetched_x_;
  mutable std::vector<Sum<float>> fetched_sums_;
};

}  // namespace dasgd::torch_adapter
