#include "dasgd/adapters/torch/device_replica.hpp"

#include <cmath>
#include <utility>

namespace dasgd::torch_adapter {
namespace {

template <typename Element>
at::Tensor host_view(std::span<const Element> numbers, at::ScalarType type) {
  return torch::from_blob(const_cast<Element*>(numbers.data()),
                          {static_cast<std::int64_t>(numbers.size())}, type);
}

}  // namespace

DeviceReplica::DeviceReplica(std::span<const float> x0, std::shared_ptr<DeviceMemory> memory)
    : memory_(std::move(memory)) {
  restore(sums_of(x0));
}

void DeviceReplica::restore(std::span<const Sum<float>> sums) {
  const Place place(*memory_);
  sums_ = host_view(sums, at::kLong)
              .to(memory_->x.device(), at::kLong, /*non_blocking=*/false, /*copy=*/true);
  changed();
}

void DeviceReplica::changed() {
  x_is_current_ = false;
  fetched_x_.clear();
  fetched_sums_ = {};
}

void DeviceReplica::refresh() {
  if (std::exchange(x_is_current_, true)) return;
  const Place place(*memory_);
  // As on the host: to double, times a power of two, to float; each step rounds once, to nearest.
  const double unit = std::ldexp(1.0, FixedPoint<float>::unit_exponent);
  memory_->x.copy_(sums_.to(at::kDouble).mul_(unit));
  const float limit =
      std::ldexp(1.0f, FixedPoint<float>::sum_bits + FixedPoint<float>::unit_exponent);
  if (diverged_at_ || memory_->x.abs().max().item<float>() < limit) return;
  diverged_at_ =
      static_cast<std::size_t>(memory_->x.abs().ge(limit).nonzero()[0].item<std::int64_t>());
}

std::span<const float> DeviceReplica::x() {
  refresh();
  if (fetched_x_.empty()) {
    const Place place(*memory_);
    fetched_x_.resize(dimension());
    host_view<float>(fetched_x_, at::kFloat).copy_(memory_->x);
  }
  return fetched_x_;
}

std::span<const Sum<float>> DeviceReplica::sums() const {
  if (fetched_sums_.empty()) {
    const Place place(*memory_);
    fetched_sums_.resize(dimension());
    host_view<Sum<float>>(fetched_sums_, at::kLong).copy_(sums_);
  }
  return fetched_sums_;
}

void DeviceReplica::apply(std::span<const GradientPtr> gradients) {
  for (const GradientPtr& gradient : gradients) add(gradient->update);
}

void DeviceReplica::apply(const Bundle& bundle) {
  const Place place(*memory_);
  sums_.add_(host_view(bundle.sums<float>(), at::kLong).to(sums_.device()));
  changed();
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
  const Place place(*memory_);
  const at::Tensor numbers =
      host_view<Number<float>>(update.numbers<float>(), at::kInt).to(sums_.device());
  sums_.add_(numbers.to(at::kLong), std::int64_t{1} << update.shift);
  changed();
}

}  // namespace dasgd::torch_adapter
