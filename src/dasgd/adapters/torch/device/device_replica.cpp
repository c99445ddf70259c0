#include "dasgd/adapters/torch/device/device_replica.hpp"

#include <ATen/ATen.h>
#include <cmath>
#include <utility>

#include "dasgd/adapters/torch/device/torch_update.hpp"
#include "dasgd/adapters/torch/plain_errors.hpp"

namespace dasgd::torch_adapter {
namespace {

template <typename Element>
at::Tensor host_view(std::span<const Element> numbers, at::ScalarType type) {
  return at::from_blob(const_cast<Element*>(numbers.data()),
                       {static_cast<std::int64_t>(numbers.size())}, type);
}

}  // namespace

DeviceReplica::DeviceReplica(std::span<const float> x0, std::shared_ptr<DeviceMemory> memory,
                             const Integers* integers)
    : memory_(std::move(memory)),
      integers_(integers ? *integers : integers_on(memory_->x.device())) {
  restore(sums_of(x0));
}

void DeviceReplica::restore(std::span<const Sum<float>> sums) {
  with_plain_errors([&] {
    const Place place(*memory_);
    const at::Device device = memory_->x.device();
    if (!sums_.defined()) {  // the same memory ever after: graphs know it by its address
      const auto options = at::TensorOptions().device(device);
      sums_ = at::empty({static_cast<std::int64_t>(sums.size())}, options.dtype(at::kLong));
      notes_ = at::empty({StepNotes::size}, options.dtype(at::kDouble));
    }
    sums_.copy_(memory_->layout.there(host_view(sums, at::kLong).to(device)));
    notes_.zero_();
    changed();
  });
}

void DeviceReplica::stepped() { changed(/*x_too=*/true); }

void DeviceReplica::changed(bool x_too) {
  x_is_current_ = x_too;
  fetched_x_.reset();
  fetched_sums_.reset();
  release_held_updates();
}

void DeviceReplica::release_held_updates() {
  while (!held_.empty() && held_.front().added.passed()) held_.pop_front();
}

void DeviceReplica::refresh() {
  if (std::exchange(x_is_current_, true)) return;
  const Place place(*memory_);
  integers_.show(sums_, memory_->x, StepNotes(notes_));
}

void DeviceReplica::show(std::span<const float> point) {
  const Place place(*memory_);
  memory_->x.copy_(memory_->layout.there(host_view(point, at::kFloat).to(memory_->x.device())));
  x_is_current_ = false;
}

void DeviceReplica::find_out_of_range() {
  if (diverged_at_) return;
  const Place place(*memory_);
  const std::int64_t limit = std::int64_t{1} << FixedPoint<float>::sum_bits;
  const at::Tensor beyond =
      memory_->layout.in_order(sums_.lt(-limit).logical_or_(sums_.ge(limit))).nonzero();
  diverged_at_ = beyond.numel() > 0 ? static_cast<std::size_t>(beyond[0].item<std::int64_t>()) : 0;
}

std::span<const float> DeviceReplica::x() {
  return with_plain_errors([&] {
    refresh();
    if (!fetched_x_.defined()) {
      const Place place(*memory_);
      fetched_x_ = copy_of(memory_->layout.in_order(memory_->x));
      if (StepNotes(notes_).out_of_range.item<double>() != 0) find_out_of_range();
    }
    return std::span<const float>(fetched_x_.data_ptr<float>(), dimension());
  });
}

std::span<const Sum<float>> DeviceReplica::sums() const {
  return with_plain_errors([&] {
    if (!fetched_sums_.defined()) {
      const Place place(*memory_);
      fetched_sums_ = copy_of(memory_->layout.in_order(sums_));
    }
    return std::span<const Sum<float>>(fetched_sums_.data_ptr<std::int64_t>(), dimension());
  });
}

UpdateTensors DeviceReplica::on_this_device(const Update& update) const {
  if (const auto* there = dynamic_cast<const TorchUpdate*>(update.on_device().get()))
    return there->on(sums_.device(), memory_->stream);
  const at::Tensor numbers = memory_->layout.there(
      host_view<Number<float>>(update.numbers<float>(), at::kInt).to(sums_.device()));
  return {numbers, at::full({1}, update.shift, numbers.options())};
}

void DeviceReplica::apply(std::span<const GradientPtr> gradients) {
  with_plain_errors([&] {
    const Place place(*memory_);
    std::vector<UpdateTensors> updates;
    for (const GradientPtr& gradient : gradients)
      updates.push_back(on_this_device(gradient->update));
    integers_.add(updates, sums_);
    hold({.gradients = {gradients.begin(), gradients.end()}});
    changed();
  });
}

void DeviceReplica::apply(const Bundle& bundle) {
  with_plain_errors([&] {
    const Place place(*memory_);
    if (const auto* there = dynamic_cast<const TorchSums*>(bundle.on_device().get())) {
      sums_.add_(there->sums().to(sums_.device()));
      hold({.sums = there->sums()});
    } else {
      sums_.add_(
          memory_->layout.there(host_view(bundle.sums<float>(), at::kLong).to(sums_.device())));
    }
    changed();
  });
}

void DeviceReplica::hold(Held what) {
  held_.push_back(std::move(what));
  held_.back().added.mark(memory_->stream);
}

// Where a rule of its own kind works in this machine's memory.
std::optional<std::size_t> DeviceReplica::apply_own(double eta, std::span<const float> gradient,
                                                    Update& update) {
  return with_plain_errors([&]() -> std::optional<std::size_t> {
    update.resize<float>(gradient.size());
    const RoundedGradient rounded = round_gradient<float>(-eta, gradient, update.numbers<float>());
    if (rounded.diverged_at) return rounded.diverged_at;
    update.shift = rounded.shift;
    const Place place(*memory_);
    const UpdateTensors own = on_this_device(update);
    integers_.add({&own, 1}, sums_);
    changed();
    return std::nullopt;
  });
}

}  // namespace dasgd::torch_adapter
