#include "dasgd/adapters/torch/device_replica.hpp"

#include <c10/core/StreamGuard.h>
#include <cmath>

namespace dasgd::torch_adapter {
namespace {

template <typename Number>
at::Tensor host_view(std::span<const Number> numbers, at::ScalarType type) {
  return torch::from_blob(const_cast<Number*>(numbers.data()),
                          {static_cast<std::int64_t>(numbers.size())}, type);
}

void enter(c10::OptionalStreamGuard& guard, const DeviceMemory& memory) {
  if (memory.stream) guard.reset_stream(*memory.stream);
}

}  // namespace

DeviceReplica::DeviceReplica(std::span<const float> x0, std::shared_ptr<DeviceMemory> memory)
    : Replica<float>(x0), memory_(std::move(memory)), fetched_(x0.size()) {
  memory_->mirror = x_.data();
  upload();
}

void DeviceReplica::restore(std::span<const Sum<float>> sums) {
  Replica<float>::restore(sums);
  upload();
}

void DeviceReplica::upload() {
  c10::OptionalStreamGuard guard;
  enter(guard, *memory_);
  sums_on_device_ = host_view<Sum<float>>(sums_, at::kLong)
                        .to(memory_->x.device(), at::kLong, /*non_blocking=*/false, /*copy=*/true);
  x_is_current_ = false;
}

std::span<const float> DeviceReplica::x() {
  if (x_is_current_) return x_;
  c10::OptionalStreamGuard guard;
  enter(guard, *memory_);
  // As on the host: to double, times a power of two, to float; each step rounds once, to nearest.
  const double unit = std::ldexp(1.0, FixedPoint<float>::unit_exponent);
  memory_->x.copy_(sums_on_device_.to(at::kDouble).mul_(unit));
  host_view<float>(x_, at::kFloat).copy_(memory_->x);
  x_is_current_ = true;
  if (!diverged_at_) {
    const float limit =
        std::ldexp(1.0f, FixedPoint<float>::sum_bits + FixedPoint<float>::unit_exponent);
    for (std::size_t i = 0; i < x_.size() && !diverged_at_; ++i)
      if (!(std::fabs(x_[i]) < limit)) diverged_at_ = i;
  }
  return x_;
}

void DeviceReplica::apply(std::span<const GradientPtr> gradients) {
  for (const GradientPtr& gradient : gradients) add(gradient->update);
}

void DeviceReplica::apply(const Bundle& bundle) {
  c10::OptionalStreamGuard guard;
  enter(guard, *memory_);
  sums_on_device_.add_(
      host_view<Sum<float>>(bundle.sums<float>(), at::kLong).to(sums_on_device_.device()));
  x_is_current_ = false;
}

std::optional<std::size_t> DeviceReplica::apply_own(double eta, std::span<const float> gradient,
                                                    Update& update) {
  update.resize<float>(gradient.size());
  const RoundedGradient rounded = round_gradient<float>(-eta, gradient, update.numbers<float>());
  if (rounded.diverged_at) return rounded.diverged_at;
  update.shift = rounded.shift;
  add(update);
  return std::nullopt;
}

void DeviceReplica::add(const Update& update) {
  c10::OptionalStreamGuard guard;
  enter(guard, *memory_);
  const at::Tensor numbers =
      host_view<Number<float>>(update.numbers<float>(), at::kInt).to(sums_on_device_.device());
  sums_on_device_.add_(numbers.to(at::kLong), std::int64_t{1} << update.shift);
  x_is_current_ = false;
}

std::span<const Sum<float>> DeviceReplica::sums() const {
  c10::OptionalStreamGuard guard;
  enter(guard, *memory_);
  host_view<Sum<float>>(fetched_, at::kLong).copy_(sums_on_device_);
  return fetched_;
}

}  // namespace dasgd::torch_adapter
