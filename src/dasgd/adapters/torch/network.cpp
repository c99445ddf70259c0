#include "dasgd/adapters/torch/network.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <torch/cuda.h>
#include <torch/version.h>
#include <type_traits>

#include "dasgd/adapters/torch/cpu_path.hpp"
#include "dasgd/adapters/torch/device_replica.hpp"
#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/adapters/torch/models.hpp"
#include "dasgd/adapters/torch/saved_network.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/loader.hpp"

namespace dasgd::torch_adapter {
namespace {

constexpr std::size_t rows_at_a_time = 64;  // evaluations stay in the caches

std::vector<float> mean_of(const std::vector<std::vector<float>>& all) {
  std::vector<double> sum(all.front().size(), 0.0);
  for (const auto& one : all)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
  std::vector<float> mean(sum.size());
  std::transform(sum.begin(), sum.end(), mean.begin(),
                 [&](double v) { return static_cast<float>(v / static_cast<double>(all.size())); });
  return mean;
}

/// The buffers of one worker as of its last gradient; the worker writes, evaluations read.
class SharedBuffers {
 public:
  void publish(std::vector<float> values) {
    const std::lock_guard lock(mutex_);
    values_ = std::move(values);
  }
  std::vector<float> view() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<float> values_;  // empty before the first gradient
};

/// What one worker computes with.
class NetworkOracle final : public Oracle<float> {
 public:
  NetworkOracle(const Samples& samples, std::unique_ptr<Instance> instance, Loader& loader,
                std::uint64_t seed, WorkerId worker, std::shared_ptr<SharedBuffers> buffers)
      : samples_(samples),
        instance_(std::move(instance)),
        loader_(loader),
        seed_(seed),
        worker_(worker),
        buffers_(std::move(buffers)) {}

  std::unique_ptr<Replica<float>> make_replica(std::span<const float> x0) override {
    if (!instance_->on_gpu()) return Oracle<float>::make_replica(x0);
    return with_plain_errors(
        [&] { return std::make_unique<DeviceReplica>(x0, instance_->memory()); });
  }

  double gradient(Replica<float>& replica, const Batch& batch, std::span<float> gradient) override {
    auto now = std::exchange(ahead_, nullptr);
    if (!batch.upcoming.empty()) {
      ahead_ = pending(batch.upcoming, batch.number + 1);
      loader_.request(ahead_);
    }
    if (!now || !now->is_for(batch.rows)) now = pending(batch.rows, batch.number);
    SampleBatch& samples = now->get();
    const double loss = with_plain_errors([&] {
      if (auto* const there = dynamic_cast<DeviceReplica*>(&replica)) {
        there->refresh();
      } else {
        instance_->show(replica.x());
      }
      return instance_->gradient(samples, gradient);
    });
    spare_ = std::move(samples);
    if (instance_->has_buffers()) buffers_->publish(instance_->buffers());
    return loss;
  }

  Bytes state() const override {
    const std::vector<float> buffers = with_plain_errors([&] { return instance_->buffers(); });
    const auto bytes = std::as_bytes(std::span(buffers));
    return {bytes.begin(), bytes.end()};
  }
  void restore(std::span<const Bytes> states) override {
    if (!instance_->has_buffers()) return;
    std::vector<std::vector<float>> known;
    const std::size_t size = instance_->buffers().size();
    for (const Bytes& state : states) {
      if (state.empty()) continue;  // of a worker that had not answered yet
      if (state.size() != size * sizeof(float))
        throw InputError("the checkpoint holds the statistics of another network");
      std::memcpy(known.emplace_back(size).data(), state.data(), state.size());
    }
    if (known.empty()) return;
    const std::vector<float> mean = mean_of(known);
    with_plain_errors([&] { instance_->set_buffers(mean); });
    buffers_->publish(mean);
  }

 private:
  // Augmentation is drawn from the worker and the number of the batch in its sequence, whoever
  // gathers it when, in whichever leg of the run.
  std::shared_ptr<PendingBatch> pending(Rows rows, std::uint64_t number) {
    const Random chance(seed_, Purpose::augmentation, static_cast<std::uint32_t>(worker_),
                        static_cast<std::uint32_t>(number));
    return std::make_shared<PendingBatch>(samples_, rows, chance, std::move(spare_));
  }

  const Samples& samples_;
  const std::unique_ptr<Instance> instance_;
  Loader& loader_;
  const std::uint64_t seed_;
  const WorkerId worker_;
  const std::shared_ptr<SharedBuffers> buffers_;
  std::shared_ptr<PendingBatch> ahead_;  // the batch that will probably be asked for next
  SampleBatch spare_;                    // memory to be used again
};

class TorchNetwork final : public Network {
 public:
  TorchNetwork(const NetworkOptions& options, std::shared_ptr<const Samples> samples)
      : options_(options),
        samples_(std::move(samples)),
        script_(read_or_build()),
        gpus_(visible_gpus()) {
    try {
      auto instance = make_instance(0);
      start_ = instance->parameters();
      inside_ = instance->preprocessing_inside();
      try_out(*instance);
      idle_.push_back(std::move(instance));
    } catch (const InputError& error) {
      const std::string what = error.what();
      throw InputError(what.starts_with(options_.model) ? what : options_.model + ": " + what);
    } catch (const std::exception& error) {
      if (is_out_of_memory(error)) throw std::bad_alloc();
      throw InputError(options_.model +
                       ": is not a TorchScript file that can be used: " + one_line(error));
    }
  }

  std::size_t dimension() const override { return start_.size(); }
  std::size_t samples() const override { return samples_->count(Part::train); }
  std::vector<float> start() const override { return start_; }
  std::string engine() const override { return engine_; }

  std::unique_ptr<Oracle<float>> make_oracle(WorkerId worker) const override {
    auto buffers = std::make_shared<SharedBuffers>();
    auto instance = with_plain_errors([&] { return make_instance(index(worker)); });
    const std::lock_guard lock(mutex_);
    buffers_[worker] = buffers;
    return std::make_unique<NetworkOracle>(*samples_, std::move(instance), loader_, options_.seed,
                                           worker, std::move(buffers));
  }

  double gradient(std::span<const float> x, Rows rows, std::span<float> gradient) const override {
    SampleBatch batch;
    samples_->gather(Part::train, rows, nullptr, batch);
    return with_instance([&](Instance& instance) {
      instance.show(x);
      return instance.gradient(batch, gradient);
    });
  }

  double full_gradient(std::span<const float> x, std::span<float> gradient) const override {
    std::vector<float> part(dimension());
    std::vector<double> sum(dimension(), 0.0);
    double loss = 0;
    for (const auto& rows : chunks(samples())) {
      const double share = static_cast<double>(rows.size()) / static_cast<double>(samples());
      loss += this->gradient(x, rows, part) * share;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i] * share;
    }
    std::transform(sum.begin(), sum.end(), gradient.begin(),
                   [](double v) { return static_cast<float>(v); });
    return loss;
  }

  /// Uses all cores, or a GPU: it is asked for when a run has ended.
  double loss(std::span<const float> x) const override {
    return look(x, Part::train, all_cores()).loss;
  }

  /// Uses one core: it may be asked for while workers compute.
  HeldOut evaluate(std::span<const float> x) const override {
    return look(x, judged(), 1).held_out();
  }
  std::string evaluated_part() const override { return std::string(to_string(judged())); }
  std::vector<PartFigures> examine(std::span<const float> x) const override {
    std::vector<PartFigures> found;
    for (const Part part : all_parts)
      if (samples_->count(part) > 0 && (part != Part::train || judged() == part))
        found.push_back(look(x, part, all_cores()));
    return found;
  }

  const Preprocessing* preprocessing() const override {
    return inside_ ? &*inside_ : samples_->preprocessing();
  }

  std::string torchscript(std::span<const float> x) const override {
    return with_instance([&](Instance& instance) {
      synchronise_buffers(instance);
      const bool text = samples_->format().tokens;
      return instance.script(x, text ? nullptr : samples_->preprocessing());
    });
  }

 private:
  std::string read_or_build() const {
    const auto& names = network_names();
    if (std::find(names.begin(), names.end(), options_.model) != names.end())
      return to_bytes(build_model(options_.model, samples_->format(), options_.seed));
    return read_script_file(options_.model);
  }

  Part judged() const {
    return samples_->count(Part::validation) > 0 ? Part::validation : Part::train;
  }
  unsigned all_cores() const {
    return gpus_ > 0 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  }

  std::size_t visible_gpus() const {
    if (options_.device == NetworkDevice::cpu) return 0;
    const std::size_t count = torch::cuda::is_available() ? torch::cuda::device_count() : 0;
    if (count == 0)
      throw InputError("--device cuda: LibTorch " TORCH_VERSION
                       " sees no GPU here; use --device cpu, or a LibTorch with CUDA");
    return count;
  }

  std::unique_ptr<Instance> make_instance(std::size_t worker) const {
    const at::Device device =
        gpus_ == 0 ? at::Device(at::kCPU)
                   : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(worker % gpus_));
    return std::make_unique<Instance>(script_, options_.model, samples_->format(), options_.loss,
                                      device);
  }

  // One gradient and one evaluation of a few samples: they tell whether the network fits the data
  // and which way to compute is fast.
  void try_out(Instance& instance) {
    const std::vector<float> before = instance.buffers();
    std::vector<std::uint32_t> rows(std::min<std::size_t>(8, samples()));
    for (std::uint32_t r = 0; r < rows.size(); ++r) rows[r] = r;
    SampleBatch batch;
    samples_->gather(Part::train, rows, nullptr, batch);
    std::vector<float> gradient(dimension());
    try {
      ClassCounts unused;
      instance.evaluate(start_, batch, unused);
      const auto trial = [&] { instance.gradient(batch, gradient); };
      trial();
      engine_ =
          fmt::format("LibTorch " TORCH_VERSION ", {}",
                      gpus_ > 0 ? fmt::format("CUDA, GPUs: {}", gpus_) : settle_cpu_path(trial));
    } catch (const std::exception& error) {
      if (is_out_of_memory(error)) throw std::bad_alloc();
      throw InputError("does not fit samples of " + samples_->format().input_shape() + " with " +
                       targets() + ": " + one_line(error));
    }
    if (instance.has_buffers()) instance.set_buffers(before);
  }

  std::string targets() const {
    const std::size_t classes = samples_->format().classes;
    return classes > 0 ? std::to_string(classes) + " classes" : "real targets";
  }

  // What `use` returns of an instance that nobody else uses meanwhile.
  template <typename Use>
  std::invoke_result_t<Use&, Instance&> with_instance(Use&& use) const {
    return with_plain_errors([&] {
      std::unique_ptr<Instance> instance;
      {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
          instance = std::move(idle_.back());
          idle_.pop_back();
        }
      }
      if (!instance) instance = make_instance(0);
      auto result = use(*instance);
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(instance));
      return result;
    });
  }

  // The mean over workers, as far as they have computed anything.
  void synchronise_buffers(Instance& instance) const {
    if (!instance.has_buffers()) return;
    std::vector<std::vector<float>> known;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [worker, buffers] : buffers_)
        if (auto values = buffers->view(); !values.empty()) known.push_back(std::move(values));
    }
    if (!known.empty()) instance.set_buffers(mean_of(known));
  }

  static std::vector<std::vector<std::uint32_t>> chunks(std::size_t count) {
    std::vector<std::vector<std::uint32_t>> result;
    for (std::uint32_t row = 0; row < count; ++row) {
      if (row % rows_at_a_time == 0) result.emplace_back();
      result.back().push_back(row);
    }
    return result;
  }

  PartFigures look(std::span<const float> x, Part part, unsigned threads) const {
    std::size_t count = samples_->count(part);
    if (options_.evaluate_at_most > 0) count = std::min(count, options_.evaluate_at_most);
    const auto pieces = chunks(count);
    std::vector<double> losses(pieces.size());
    std::vector<ClassCounts> counts(threads);
    std::atomic<std::size_t> next{0};
    in_parallel(threads, threads, [&](std::size_t t) {
      with_instance([&](Instance& instance) {
        synchronise_buffers(instance);
        SampleBatch batch;
        for (std::size_t k = next++; k < pieces.size(); k = next++) {
          samples_->gather(part, pieces[k], nullptr, batch);
          losses[k] = instance.evaluate(x, batch, counts[t]);
        }
        return pieces.size();
      });
    });
    PartFigures found{.part = std::string(to_string(part)), .from = samples_->origin(part)};
    found.samples = count;
    for (std::size_t k = 0; k < pieces.size(); ++k)
      found.loss += losses[k] * static_cast<double>(pieces[k].size()) / static_cast<double>(count);
    for (const ClassCounts& part_of_it : counts) {
      if (found.counts.classes() == 0) found.counts = ClassCounts(part_of_it.classes());
      if (part_of_it.classes() > 0) found.counts.add(part_of_it);
    }
    if (samples_->format().classes == 0) found.mse = found.loss;
    found.classes = preprocessing()->classes;
    for (std::size_t k = found.classes.size(); k < found.counts.classes(); ++k)
      found.classes.push_back(std::to_string(k));  // outputs that no class belongs to
    return found;
  }

  const NetworkOptions options_;
  const std::shared_ptr<const Samples> samples_;
  const std::string script_;  // the bytes of a TorchScript file; every instance is loaded from them
  const std::size_t gpus_;    // 0: everything is on the CPU
  std::vector<float> start_;
  std::string engine_;
  std::optional<Preprocessing> inside_;                  // of a file that takes raw data
  mutable std::mutex mutex_;                             // guards all below
  mutable std::vector<std::unique_ptr<Instance>> idle_;  // for evaluations
  mutable std::map<WorkerId, std::shared_ptr<SharedBuffers>> buffers_;
  mutable Loader loader_;
};

}  // namespace
}  // namespace dasgd::torch_adapter

namespace dasgd {

std::unique_ptr<Network> make_network(const NetworkOptions& options,
                                      std::shared_ptr<const Samples> samples) {
  return torch_adapter::with_plain_errors(
      [&] { return std::make_unique<torch_adapter::TorchNetwork>(options, std::move(samples)); });
}

}  // namespace dasgd
