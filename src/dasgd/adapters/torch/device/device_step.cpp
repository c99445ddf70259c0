#include "dasgd/adapters/torch/device/device_step.hpp"

#include <ATen/ATen.h>
#include <cmath>
#include <utility>

#include "dasgd/adapters/torch/device/torch_update.hpp"

namespace dasgd::torch_adapter {
namespace {

constexpr unsigned steps_before_recording = 2;  // libraries choose kernels and allocate memory

// Memory of this machine that a device reads and writes while this thread goes on.
at::Tensor reachable(const at::Tensor& like) {
  return at::empty(like.sizes(),
                   at::TensorOptions().dtype(like.dtype()).pinned_memory(!like.is_cpu()));
}

// Through `by`, so that the device can take it while `from` is used again.
void copy(const at::Tensor& from, at::Tensor& by, at::Tensor& to, at::Device device) {
  if (!from.defined()) return;
  if (!to.defined()) to = at::empty(from.sizes(), from.options().device(device));
  if (!by.defined() || by.sizes() != from.sizes()) by = reachable(to);
  by.copy_(from);
  to.copy_(by, /*non_blocking=*/true);
}

}  // namespace

DeviceStep::DeviceStep(Instance& instance, DeviceReplica& replica, const Recipe& recipe,
                       const DirectionMemory<float>& memory, std::shared_ptr<const DeviceData> data,
                       std::shared_ptr<StepRecorder> recorder)
    : instance_(instance),
      replica_(replica),
      memory_(replica.memory()),
      rule_([&] {
        const Place place(*memory_);
        return DeviceRule(recipe, memory, memory_->x, memory_->layout);
      }()),
      point_(memory_),
      data_(std::move(data)),
      recorder_(memory_->stream ? std::move(recorder) : nullptr) {
  const Place place(*memory_);
  const auto options = at::TensorOptions().device(instance.how().device);
  knobs_ = at::zeros({DeviceRule::knobs}, options.dtype(at::kDouble));
  for (Slot& slot : slots_) {
    slot.knobs = reachable(knobs_);
    slot.notes = reachable(replica.notes());
  }
}

// LibTorch asks the device when it takes back memory that both can reach. Where the device is lost,
// that would end the program in a destructor: the memory stays where it is.
DeviceStep::~DeviceStep() {
  try {
    for (const Slot& slot : slots_) slot.done.wait();
    DeviceMoment().mark(memory_->stream);
  } catch (const std::exception&) {
    new auto(std::move(slots_));
    new DevicePoint(std::move(point_));
  }
}

WholeStep DeviceStep::step(LookAheadPlan& ahead, Samples::Rows rows, Random& chance, double eta,
                           Update& update) {
  if (pending_divergence_) return {.divergence = std::exchange(pending_divergence_, std::nullopt)};
  const Place place(*memory_);
  Plan& plan = plans_[rows.size()];
  Slot& slot = begin(eta);
  if (!plan.request.defined())
    plan.request = at::empty({static_cast<std::int64_t>(rows.size()), DeviceData::words},
                             at::TensorOptions().device(instance_.how().device).dtype(at::kLong));
  if (!slot.request.defined() || slot.request.sizes() != plan.request.sizes())
    slot.request = reachable(plan.request);
  data_->ask(rows, chance, slot.request.data_ptr<std::int64_t>());
  plan.request.copy_(slot.request, /*non_blocking=*/true);
  return finish(ahead, plan, slot, update);
}

WholeStep DeviceStep::step(LookAheadPlan& ahead, const SampleBatch& batch, double eta,
                           Update& update) {
  if (pending_divergence_) return {.divergence = std::exchange(pending_divergence_, std::nullopt)};
  const Place place(*memory_);
  Plan& plan = plans_[batch.count];
  Slot& slot = begin(eta);
  const Instance::Inputs from = instance_.views_of(batch);
  copy(from.input, slot.in.input, plan.in.input, instance_.how().device);
  copy(from.target, slot.in.target, plan.in.target, instance_.how().device);
  copy(from.weights, slot.in.weights, plan.in.weights, instance_.how().device);
  return finish(ahead, plan, slot, update);
}

DeviceStep::Slot& DeviceStep::begin(double eta) {
  Slot& slot = slots_[steps_++ % slots_.size()];
  slot.done.wait();
  slot.eta = eta;
  rule_.next_knobs(eta, slot.knobs.data_ptr<double>());
  knobs_.copy_(slot.knobs, /*non_blocking=*/true);
  return slot;
}

WholeStep DeviceStep::finish(LookAheadPlan& ahead, Plan& plan, Slot& slot, Update& update) {
  replica_.refresh();
  if (!ahead.is_off()) point_.move_to_y(ahead);
  start(plan);
  round(update);
  slot.notes.copy_(replica_.notes(), /*non_blocking=*/true);
  slot.done.mark(memory_->stream);
  replica_.stepped();
  if (!ahead.is_off())
    point_.made(ahead, slot.eta, instance_.flat_gradient(), StepNotes(replica_.notes()).diverged);
  if (!ahead_ || steps_ == 1) return report(slot, 0);
  WholeStep made = report(slots_[steps_ % slots_.size()], 1);
  made.eta = slot.eta;
  return made;
}

void DeviceStep::start(Plan& plan) {
  if (recorder_ && !plan.graph) {
    recorder_->run([&] { work_or_record(plan); });
  } else if (!recorder_) {
    work_or_record(plan);
  }
  if (plan.graph) plan.graph->replay();
}

void DeviceStep::work_or_record(Plan& plan) {
  const Place place(*memory_);
  if (recorder_ && plan.runs++ == steps_before_recording) {
    plan.graph = std::make_unique<StepGraph>(*memory_->stream, [&] { work(plan); });
  } else {
    const auto lock = StepGraph::nobody_records(instance_.how().device);
    work(plan);
  }
}

void DeviceStep::work(const Plan& plan) {
  const StepNotes notes(replica_.notes());
  const at::Tensor& gradient = instance_.flat_gradient();
  const at::Tensor loss = instance_.compute(data_ ? data_->gather(plan.request) : plan.in);
  const at::NoGradGuard no_grad;
  notes.loss.copy_(loss);
  rule_.transform(knobs_, memory_->x, gradient);
  replica_.integers().measure(gradient, notes);
}

// A gradient that comes back from its pool still has its memory on the device.
void DeviceStep::round(Update& update) {
  const at::Tensor& gradient = instance_.flat_gradient();
  auto numbers = std::dynamic_pointer_cast<TorchUpdate>(update.on_device());
  if (!numbers || numbers->update().numbers.sizes() != gradient.sizes() ||
      numbers->update().numbers.device() != gradient.device())
    numbers = std::make_shared<TorchUpdate>(gradient.numel(), gradient.device(), memory_->layout);
  replica_.integers().round_and_add(gradient, DeviceRule::factor(knobs_), numbers->update(),
                                    replica_.sums_there(), memory_->x, StepNotes(replica_.notes()));
  numbers->mark_written(memory_->stream);
  update.put(std::move(numbers), NumberFormat::of_float);
}

WholeStep DeviceStep::report(const Slot& slot, std::uint32_t steps_ago) {
  slot.done.wait();
  const StepNotes notes(slot.notes);
  WholeStep made{.eta = slot.eta, .loss = notes.loss.item<double>()};
  if (std::isfinite(made.loss)) last_loss_ = made.loss;
  if (notes.diverged.item<double>() != 0) {
    // Its update was zero. If it is this step, nothing has happened; an earlier one is reported
    // when the worker asks again, since the step that has been made since is good.
    made.loss = last_loss_;
    (steps_ago == 0 ? made.divergence : pending_divergence_) = divergence(slot, false);
  } else if (notes.out_of_range.item<double>() != 0) {
    pending_divergence_ = divergence(slot, true);
  }
  if (pending_divergence_) pending_divergence_->steps_ago = steps_ago + 1;
  return made;
}

WholeStep::Divergence DeviceStep::divergence(const Slot& slot, bool out_of_range) {
  if (out_of_range) {
    replica_.find_out_of_range();
    const std::size_t at = *replica_.diverged_at();
    return {.coordinate = at, .value = replica_.x()[at], .eta = slot.eta};
  }
  const at::Tensor gradient = memory_->layout.in_order(instance_.flat_gradient());
  const at::Tensor beyond =
      gradient.abs()
          .le(std::ldexp(1.0, FixedPoint<float>::step_bits + FixedPoint<float>::unit_exponent) /
              std::fabs(slot.eta))
          .logical_not_()
          .nonzero();
  WholeStep::Divergence found{.value = StepNotes(slot.notes).largest.item<double>(),
                              .eta = slot.eta};
  if (beyond.numel() == 0) return found;  // the step that was made since has other numbers
  found.coordinate = static_cast<std::size_t>(beyond[0].item<std::int64_t>());
  found.value = gradient[beyond[0].item<std::int64_t>()].item<float>();
  return found;
}

DirectionMemory<float> DeviceStep::memory() const {
  const Place place(*memory_);
  return rule_.memory();
}

}  // namespace dasgd::torch_adapter
