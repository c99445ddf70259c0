// The exact arithmetic of core/fixed_point.hpp on a device: the same bits.
#pragma once

#include <ATen/Tensor.h>
#include <span>

namespace dasgd::torch_adapter {

/// An update in the memory of a device: `numbers << shift` units.
struct UpdateTensors {
  at::Tensor numbers;  ///< int32, flat
  at::Tensor shift;    ///< int32, one
};

/// What the device reports about a step: doubles side by side.
struct StepNotes {
  static constexpr std::int64_t size = 5;
  explicit StepNotes(const at::Tensor& all)
      : loss(all.select(0, 0)),
        diverged(all.select(0, 1)),
        out_of_range(all.select(0, 2)),
        largest(all.select(0, 3)),
        scratch(all.select(0, 4)) {}

  at::Tensor loss;
  at::Tensor diverged;      ///< 1: the gradient is not finite or steps too far; its update is zero
  at::Tensor out_of_range;  ///< not 0: x has left the range of its numbers, now or earlier
  at::Tensor largest;       ///< coordinate of the gradient, by magnitude
  at::Tensor scratch;
};

/// Nothing here waits for the device.
class Integers {
 public:
  virtual ~Integers() = default;
  /// x = sums * q.
  virtual void show(const at::Tensor& sums, const at::Tensor& x, const StepNotes& notes) const = 0;
  /// Notes the largest coordinate of a gradient, ...
  virtual void measure(const at::Tensor& gradient, const StepNotes& notes) const = 0;
  /// ... by which factor * gradient is then rounded to `update` and added to the sums; zero where
  /// it diverges. Shows x. `factor` is one double.
  virtual void round_and_add(const at::Tensor& gradient, const at::Tensor& factor,
                             const UpdateTensors& update, const at::Tensor& sums,
                             const at::Tensor& x, const StepNotes& notes) const = 0;
  /// Adds any number of updates.
  virtual void add(std::span<const UpdateTensors> updates, const at::Tensor& sums) const = 0;
};

/// By LibTorch's operators, on any device.
const Integers& integers_by_operators();
/// By kernels of our own, one pass over memory each; null where they were not built.
const Integers* integers_by_kernels();
/// The faster of the two for this device.
const Integers& integers_on(at::Device device);

}  // namespace dasgd::torch_adapter
