// Update rules on a device: the formulas of rules/stages.cpp on tensors.
#pragma once

#include <ATen/Tensor.h>

#include "dasgd/adapters/torch/device/layout.hpp"
#include "dasgd/core/update_rule.hpp"

namespace dasgd::torch_adapter {

/// Follows a recipe. Products and sums are rounded one by one, as on a CPU, so the directions have
/// the same bits for the same gradients; only the norm that `clip` compares is summed up in another
/// order, in doubles.
class DeviceRule {
 public:
  DeviceRule(const Recipe& recipe, const DirectionMemory<float>& memory, const at::Tensor& like,
             TensorLayout layout = {});

  /// What changes from step to step, as doubles side by side.
  static constexpr std::int64_t knobs = 3;
  /// Their values for the next step, which is counted.
  void next_knobs(double eta, double* to);

  /// Changes the gradient in place; nothing here waits for the device.
  void transform(const at::Tensor& knob_values, const at::Tensor& x, const at::Tensor& gradient);
  /// -eta, of the knobs.
  static at::Tensor factor(const at::Tensor& knob_values) { return knob_values.select(0, 0); }

  /// Waits for the device.
  DirectionMemory<float> memory() const;

 private:
  void clip(const at::Tensor& gradient) const;

  const Recipe recipe_;
  const TensorLayout layout_;
  std::uint64_t seen_;
  at::Tensor first_, second_;  // not there where the direction does not need them
};

}  // namespace dasgd::torch_adapter
