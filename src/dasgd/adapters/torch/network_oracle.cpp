#include "dasgd/adapters/torch/network_oracle.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dasgd/adapters/torch/device/device_replica.hpp"
#include "dasgd/adapters/torch/plain_errors.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::torch_adapter {

std::vector<float> mean_of(const std::vector<std::vector<float>>& all) {
  std::vector<double> sum(all.front().size(), 0.0);
  for (const auto& one : all)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
  std::vector<float> mean(sum.size());
  std::transform(sum.begin(), sum.end(), mean.begin(),
                 [&](double v) { return static_cast<float>(v / static_cast<double>(all.size())); });
  return mean;
}

void SharedBuffers::publish(std::vector<float> values) {
  const std::lock_guard lock(mutex_);
  keep(std::move(values));
}

std::vector<float> SharedBuffers::view() const {
  const std::lock_guard lock(mutex_);
  return instance_ ? instance_->buffers() : values_;
}

NetworkOracle::NetworkOracle(OracleParts parts, std::unique_ptr<Instance> instance,
                             std::shared_ptr<SharedBuffers> buffers)
    : parts_(std::move(parts)), instance_(std::move(instance)), buffers_(std::move(buffers)) {
  if (instance_->how().device.is_cpu()) caller_.emplace();
}

// Evaluations at the end of a run come when its workers are gone.
NetworkOracle::~NetworkOracle() {
  if (!step_ || !instance_->has_buffers()) return;
  std::vector<float> last;
  try {
    last = instance_->buffers();
  } catch (...) {  // the device is lost, and with it what was there
  }
  const std::lock_guard lock(buffers_->mutex());
  buffers_->keep(std::move(last));
}

bool NetworkOracle::makes_whole_steps() const { return instance_->how().own_memory; }

std::unique_ptr<Replica<float>> NetworkOracle::make_replica(std::span<const float> x0) {
  if (!makes_whole_steps()) return Oracle<float>::make_replica(x0);
  return with_plain_errors(
      [&] { return std::make_unique<DeviceReplica>(x0, instance_->memory()); });
}

double NetworkOracle::gradient(ComputePoint<float>& point, const Batch& batch,
                               std::span<float> gradient) {
  const auto now = take(batch);
  SampleBatch& samples = now->get();
  const double loss = with_plain_errors([&] {
    if (tests_first_) test(point, samples);
    if (auto* const there = dynamic_cast<DeviceReplica*>(&point.replica())) {
      if (point.plan().is_off())
        there->refresh();
      else
        there->show(point.y());
    } else {
      instance_->show(point.y());
    }
    return instance_->gradient(samples, gradient);
  });
  spare_ = std::move(samples);
  if (instance_->has_buffers()) buffers_->publish(instance_->buffers());
  return loss;
}

void NetworkOracle::test(ComputePoint<float>& point, const SampleBatch& samples) {
  ClassCounts counts;
  instance_->evaluate(point.y(), samples, counts);
  parts_.samples.answered(counts.right(), samples.count);
}

std::optional<WholeStep> NetworkOracle::whole_step(ComputePoint<float>& point, const Batch& batch,
                                                   UpdateRule<float>& rule, std::uint64_t t,
                                                   Update& update) {
  auto* const there = dynamic_cast<DeviceReplica*>(&point.replica());
  const auto recipe = there ? rule.recipe() : std::nullopt;
  if (!recipe) return std::nullopt;
  return with_plain_errors([&] {
    const auto samples = parts_.data ? nullptr : take(batch);
    if (samples) samples->get();
    const std::lock_guard lock(buffers_->mutex());
    if (!step_) {
      step_ = std::make_unique<DeviceStep>(*instance_, *there, *recipe, rule.memory(), parts_.data,
                                           parts_.recorder);
      if (ahead_of_device_) step_->run_ahead();
      if (instance_->has_buffers()) buffers_->read_from(instance_.get());
    }
    const double eta = rule.step_size(t);
    if (!samples) {
      Random draws = chance(batch.number);
      return step_->step(point.plan(), batch.rows, draws, eta, update);
    }
    const WholeStep made = step_->step(point.plan(), samples->get(), eta, update);
    spare_ = std::move(samples->get());
    return made;
  });
}

void NetworkOracle::give_memory_back(UpdateRule<float>& rule) {
  if (step_) rule.remember(with_plain_errors([&] { return step_->memory(); }));
}

Bytes NetworkOracle::state() const {
  const std::vector<float> buffers = with_plain_errors([&] { return instance_->buffers(); });
  const auto bytes = std::as_bytes(std::span(buffers));
  return {bytes.begin(), bytes.end()};
}

void NetworkOracle::restore(std::span<const Bytes> states) {
  if (!instance_->has_buffers()) return;
  std::vector<std::vector<float>> known;
  const std::vector<float> now = instance_->buffers();
  const std::size_t size = now.size();
  for (const Bytes& state : states) {
    if (state.empty()) continue;  // of a worker that had not answered yet
    const std::size_t without_counters = size - instance_->counters();  // as 0.1.0 wrote it
    if (state.size() != size * sizeof(float) && state.size() != without_counters * sizeof(float))
      throw InputError("the checkpoint holds the statistics of another network");
    // Without counts those that the network came with stay. Only an average over all batches
    // (momentum=None) asks for them: from a count of 0 it starts again with the next batch.
    std::memcpy(known.emplace_back(now).data(), state.data(), state.size());
  }
  if (known.empty()) return;
  const std::vector<float> mean = mean_of(known);
  with_plain_errors([&] { instance_->set_buffers(mean); });
  buffers_->publish(mean);
}

// Augmentation is drawn from the worker and the number of the batch in its sequence, whoever
// gathers it when, in whichever leg of the run.
Random NetworkOracle::chance(std::uint64_t number) const {
  return Random(parts_.seed, Purpose::augmentation, static_cast<std::uint32_t>(parts_.worker),
                static_cast<std::uint32_t>(number));
}

std::shared_ptr<PendingBatch> NetworkOracle::pending(Rows rows, std::uint64_t number) {
  return std::make_shared<PendingBatch>(parts_.samples, rows, chance(number), std::move(spare_));
}

// The batch, and the loader begins with the next.
std::shared_ptr<PendingBatch> NetworkOracle::take(const Batch& batch) {
  auto now = std::exchange(ahead_, nullptr);
  if (!batch.upcoming.empty()) {
    ahead_ = pending(batch.upcoming, batch.number + 1);
    parts_.loader.request(ahead_);
  }
  if (!now || !now->is_for(batch.rows)) now = pending(batch.rows, batch.number);
  return now;
}

}  // namespace dasgd::torch_adapter
