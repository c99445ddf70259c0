#include "dasgd/adapters/torch/device/device_point.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <cmath>

namespace dasgd::torch_adapter {
namespace {

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  return at::dot(a, b).to(at::kDouble);
}

}  // namespace

void DevicePoint::Answer::ask(const at::Tensor& there, const StreamPtr& stream) {
  if (!numbers.defined())
    numbers = at::empty(there.sizes(),
                        at::TensorOptions().dtype(at::kDouble).pinned_memory(!there.is_cpu()));
  numbers.copy_(there, /*non_blocking=*/true);
  written.mark(stream);
  awaited = true;
}

void DevicePoint::move_to_y(LookAheadPlan& plan) {
  const at::NoGradGuard no_grad;
  if (generation_ != plan.generation()) {
    generation_ = plan.generation();
    recent_.clear();
    compared_.reset();
    last_y_.reset();
  }
  plan.begin();
  const bool measures = plan.measures_gap() && !gap_.awaited;
  const at::Tensor before = measures ? memory_->x.clone() : at::Tensor();
  recent_.for_each_weighted(
      [&](double age, double length) { return plan.weight(age, length); },
      [&](double weight, const at::Tensor& sum) { memory_->x.add_(sum, weight); });
  follow(plan);
  if (gap_.is_there()) {
    gap_.awaited = false;
    const double* const squares = gap_.numbers.data_ptr<double>();
    if (squares[1] > 0) plan.moved(std::sqrt(squares[0] / squares[1]));
  }
  if (!measures) return;
  const at::Tensor moved = memory_->x - before;
  gap_.ask(at::stack({product(moved, moved), product(before, before)}), memory_->stream);
}

// x is where the guesses lead; y goes part of the way.
void DevicePoint::follow(const LookAheadPlan& plan) {
  if (plan.pull() == 1 || recent_.blocks().empty()) return last_y_.reset();
  if (!last_y_.defined()) {
    last_y_ = memory_->x.clone();
    return;
  }
  last_y_.lerp_(memory_->x, plan.pull());
  memory_->x.copy_(last_y_);
}

void DevicePoint::made(LookAheadPlan& plan, double eta, const at::Tensor& direction,
                       const at::Tensor& diverged) {
  const at::NoGradGuard no_grad;
  if (products_.is_there()) {
    products_.awaited = false;
    const double* const found = products_.numbers.data_ptr<double>();
    plan.signal().add(found[0], (found[1] + found[2]) / 2);
  }
  if (plan.compares() && !products_.awaited) {
    if (compared_.defined())
      products_.ask(at::stack({product(compared_, direction), product(compared_, compared_),
                               product(direction, direction)}),
                    memory_->stream);
    compared_ = direction.clone();
  }
  recent_.push(
      plan.oldest(),
      [&](at::Tensor& update) {
        if (!update.defined()) update = at::empty_like(direction);
        at::mul_out(update, direction,
                    at::scalar_tensor(-eta, direction.options().device(at::kCPU)));
        update.masked_fill_(diverged.ne(0), 0);
      },
      [](at::Tensor& to, const at::Tensor& from) { to.add_(from); });
  if (last_y_.defined()) last_y_.add_(recent_.blocks().front().sum, 1 + plan.weight(0, 1));
  plan.made();
}

}  // namespace dasgd::torch_adapter
