#include "dasgd/adapters/torch/device/device_rule.hpp"

#include <ATen/ATen.h>
#include <cmath>
#include <utility>

namespace dasgd::torch_adapter {
namespace {

using Direction = Recipe::Direction;

at::Tensor on_device(const std::vector<float>& values, const at::Tensor& like) {
  if (values.empty()) return at::zeros_like(like);
  return at::from_blob(const_cast<float*>(values.data()), like.sizes(), at::kFloat)
      .to(like.device(), at::kFloat, false, true);
}

std::vector<float> here(const at::Tensor& tensor, const TensorLayout& layout) {
  if (!tensor.defined()) return {};
  const at::Tensor copy = layout.in_order(tensor).to(at::kCPU);
  return {copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel()};
}

// To the nearest float. On a CPU LibTorch may take MKL's, which is off by a bit at times.
at::Tensor root(const at::Tensor& tensor) {
  return tensor.is_cpu() ? tensor.to(at::kDouble).sqrt_().to(at::kFloat) : tensor.sqrt();
}

// A number of the host as the CPU's rules see it.
double as_float(double value) { return static_cast<float>(value); }

}  // namespace

DeviceRule::DeviceRule(const Recipe& recipe, const DirectionMemory<float>& memory,
                       const at::Tensor& like, TensorLayout layout)
    : recipe_(recipe), layout_(std::move(layout)), seen_(memory.seen) {
  if (recipe.direction != Direction::gradient)
    first_ = layout_.there(on_device(memory.first, like));
  if (recipe.direction == Direction::adam) second_ = layout_.there(on_device(memory.second, like));
}

void DeviceRule::next_knobs(double eta, double* to) {
  const auto count = static_cast<double>(++seen_);
  to[0] = -eta;
  to[1] = as_float(1 / (1 - std::pow(recipe_.beta1, count)));
  to[2] = as_float(1 / (1 - std::pow(recipe_.beta2, count)));
}

void DeviceRule::clip(const at::Tensor& gradient) const {
  const at::Tensor norm = gradient.to(at::kDouble).square_().sum().sqrt_();
  const at::Tensor scale = at::full_like(norm, *recipe_.clip).div_(norm).to(at::kFloat);
  const at::Tensor too_large = at::isfinite(norm).logical_and_(norm.gt(*recipe_.clip));
  gradient.mul_(at::where(too_large, scale, at::ones_like(scale)));
}

void DeviceRule::transform(const at::Tensor& knob_values, const at::Tensor& x,
                           const at::Tensor& g) {
  if (recipe_.clip) clip(g);
  if (recipe_.decay > 0) g.add_(x.mul(as_float(recipe_.decay)));
  switch (recipe_.direction) {
    case Direction::gradient:
      break;
    case Direction::momentum:
      first_.mul_(as_float(recipe_.mu)).add_(g);
      g.copy_(first_);
      break;
    case Direction::nesterov:
      first_.mul_(as_float(recipe_.mu)).add_(g);
      g.add_(first_.mul(as_float(recipe_.mu)));
      break;
    case Direction::adam: {
      first_.mul_(as_float(recipe_.beta1)).add_(g.mul(as_float(1 - recipe_.beta1)));
      second_.mul_(as_float(recipe_.beta2)).add_(g.mul(as_float(1 - recipe_.beta2)).mul_(g));
      const at::Tensor corrected = second_.mul(knob_values.select(0, 2).to(at::kFloat));
      g.copy_(first_.mul(knob_values.select(0, 1).to(at::kFloat))
                  .div_(root(corrected).add_(as_float(recipe_.epsilon))));
      break;
    }
  }
  if (recipe_.decoupled_decay > 0) g.add_(x.mul(as_float(recipe_.decoupled_decay)));
}

DirectionMemory<float> DeviceRule::memory() const {
  return {recipe_.direction == Direction::adam ? seen_ : 0, here(first_, layout_),
          here(second_, layout_)};
}

}  // namespace dasgd::torch_adapter
