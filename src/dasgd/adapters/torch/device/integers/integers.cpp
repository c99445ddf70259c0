#include "dasgd/adapters/torch/device/integers/integers.hpp"

#include <ATen/ATen.h>
#include <cmath>

#include "dasgd/core/fixed_point.hpp"

namespace dasgd::torch_adapter {
namespace {

using Format = FixedPoint<float>;

class ByOperators final : public Integers {
 public:
  // As on the host: to double, times a power of two, to float; each step rounds once, to nearest.
  void show(const at::Tensor& sums, const at::Tensor& x, const StepNotes& notes) const override {
    x.copy_(sums.to(at::kDouble).mul_(std::ldexp(1.0, Format::unit_exponent)));
    const double limit = std::ldexp(1.0, Format::sum_bits + Format::unit_exponent);
    notes.out_of_range.add_(x.abs().max().lt(limit).logical_not_());
  }

  void measure(const at::Tensor& gradient, const StepNotes& notes) const override {
    notes.largest.copy_(gradient.abs().max());
  }

  // unit_for of core/fixed_point.cpp, on scalars of the device.
  void round_and_add(const at::Tensor& gradient, const at::Tensor& factor,
                     const UpdateTensors& update, const at::Tensor& sums, const at::Tensor& x,
                     const StepNotes& notes) const override {
    const at::Tensor step = notes.largest.mul(factor.abs());
    const at::Tensor exponent = std::get<1>(at::frexp(step)).sub(Format::unit_exponent);
    const at::Tensor even =
        exponent.sub(Format::update_bits).clamp_min(0).add_(1).div_(2, "floor").mul_(2);
    const at::Tensor shift = at::where(step.gt(0), even, at::zeros_like(even)).to(at::kLong);
    // A power of two from 2^14 to 2^44: exact as an integer and as a double.
    const at::Tensor units = at::ones_like(shift).bitwise_left_shift(
        shift.neg().add_(-Format::unit_exponent).clamp_min(0));
    const at::Tensor scale = factor.mul(units.to(at::kDouble)).to(at::kFloat);
    const at::Tensor good = at::isfinite(step)
                                .logical_and_(exponent.le(Format::step_bits))
                                .logical_and_(at::isfinite(scale));
    notes.diverged.copy_(good.logical_not());
    const at::Tensor rounded = gradient.mul(scale).round_();
    update.numbers.copy_(at::where(good, rounded, at::zeros_like(rounded)));
    update.shift.copy_(at::where(good, shift, at::zeros_like(shift)).reshape({1}));
    add({&update, 1}, sums);
    show(sums, x, notes);
  }

  void add(std::span<const UpdateTensors> updates, const at::Tensor& sums) const override {
    for (const UpdateTensors& update : updates)
      sums.add_(update.numbers.to(at::kLong).mul_(
          at::ones_like(update.shift, at::kLong).bitwise_left_shift(update.shift.to(at::kLong))));
  }
};

}  // namespace

const Integers& integers_by_operators() {
  static const ByOperators one;
  return one;
}

const Integers& integers_on(at::Device device) {
  const Integers* const kernels = device.is_cuda() ? integers_by_kernels() : nullptr;
  return kernels ? *kernels : integers_by_operators();
}

#ifndef DASGD_CUDA_KERNELS
const Integers* integers_by_kernels() { return nullptr; }
#endif

}  // namespace dasgd::torch_adapter
