#include "dasgd/adapters/torch/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <torch/version.h>
#include <type_traits>

#include "dasgd/adapters/torch/blas.hpp"
#include "dasgd/adapters/torch/cpu_path.hpp"
#include "dasgd/adapters/torch/device/device_data.hpp"
#include "dasgd/adapters/torch/device/gpus.hpp"
#include "dasgd/adapters/torch/device/recorder.hpp"
#include "dasgd/adapters/torch/device/step_graph.hpp"
#include "dasgd/adapters/torch/device/torch_update.hpp"
#include "dasgd/adapters/torch/evaluation.hpp"
#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/adapters/torch/models.hpp"
#include "dasgd/adapters/torch/network_oracle.hpp"
#include "dasgd/adapters/torch/plain_errors.hpp"
#include "dasgd/adapters/torch/precision.hpp"
#include "dasgd/adapters/torch/saved_network.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/draws/loader.hpp"

namespace dasgd::torch_adapter {
namespace {

constexpr std::size_t rows_at_a_time = 64;            // evaluations stay in the caches of a CPU
constexpr std::size_t answers_at_a_time_gpu = 16384;  // and keep a GPU busy in bounded memory
constexpr std::size_t most_resident = std::size_t{8} << 30;  // bytes of data on a device

class TorchNetwork final : public Network {
 public:
  TorchNetwork(const NetworkOptions& options, std::shared_ptr<const Samples> samples)
      : options_(options),
        samples_(std::move(samples)),
        script_(read_or_build()),
        gpus_(visible_gpus()) {
    try {
      if (gpus_ == 0) evaluating_.resize(all_cores() + 1);
      auto instance = make_instance(0);
      start_ = instance->parameters();
      inside_ = instance->preprocessing_inside();
      try_out(*instance);
      idle_.push_back(std::move(instance));
    } catch (const InputError& error) {
      const std::string what = error.what();
      throw InputError(what.starts_with(options_.model) ? what : options_.model + ": " + what);
    } catch (const std::exception& error) {
      throw_if_machine_failed(error);
      throw InputError(options_.model +
                       ": is not a TorchScript file that can be used: " + one_line(error));
    }
  }

  std::size_t dimension() const override { return start_.size(); }
  std::size_t samples() const override { return samples_->places(); }
  std::optional<ArrivalFigures> arrivals() const override { return samples_->arrivals(); }
  std::vector<std::uint32_t> labels() const override { return samples_->labels(Part::train); }
  std::vector<float> start() const override { return start_; }
  std::string engine() const override { return engine_; }

  std::unique_ptr<Oracle<float>> make_oracle(WorkerId worker) const override {
    auto buffers = std::make_shared<SharedBuffers>();
    auto instance = with_plain_errors([&] { return make_instance(index(worker)); });
    auto data = instance->how().own_memory ? data_on(instance->how().device) : nullptr;
    const std::lock_guard lock(mutex_);
    buffers_[worker] = buffers;
    return std::make_unique<NetworkOracle>(
        OracleParts{*samples_, loader_, options_.seed, worker, std::move(data), recorder_},
        std::move(instance), std::move(buffers));
  }

  DeviceBuffers device_of(std::span<const WorkerId> workers) const override {
    if (gpus_ == 0 && !options_.as_on_gpu) return {};
    for (const WorkerId worker : workers)
      if (device_for(index(worker)) != device_for(index(workers.front()))) return {};
    const TensorLayout layout = with_instance([](Instance& one) { return one.memory()->layout; });
    return {.make =
                [size = static_cast<std::int64_t>(dimension()),
                 device = device_for(index(workers.front())), layout] {
                  return with_plain_errors([&] { return TorchUpdate::room(size, device, layout); });
                },
            .order = layout.text()};
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
    const std::size_t count = samples_->count(Part::train);
    for (const auto& rows : pieces_of(count, rows_together())) {
      const double share = static_cast<double>(rows.size()) / static_cast<double>(count);
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
  std::optional<std::size_t> right_answers(std::span<const float> x, Rows rows) const override {
    if (samples_->format().classes == 0) return std::nullopt;
    SampleBatch batch;
    samples_->gather(Part::train, rows, nullptr, batch);
    return with_instance([&](Instance& instance) {
      ClassCounts counts;
      synchronise_buffers(instance);
      instance.evaluate(x, batch, counts);
      return std::optional(static_cast<std::size_t>(counts.right()));
    });
  }
  std::string evaluated_part() const override { return std::string(to_string(judged())); }
  std::vector<PartFigures> examine(std::span<const float> x) const override {
    std::vector<PartFigures> found;
    for (const Part part : all_parts)
      if (samples_->count(part) > 0 && (part != Part::train || judged() == part))
        found.push_back(look(x, part, all_cores()));
    return found;
  }

  std::vector<ShownSample> shown(std::span<const float> x, std::size_t at_most) const override {
    const SampleFormat& format = samples_->format();
    if (format.input.size() != 3 || format.classes == 0) return {};
    const Part part = samples_->count(Part::test) > 0 ? Part::test : judged();
    const std::size_t count = std::min(at_most, samples_->count(part));
    return with_instance([&](Instance& instance) {
      synchronise_buffers(instance);
      std::vector<ShownSample> found;
      SampleBatch one;
      for (std::size_t k = 0; k < count; ++k) {  // from all of it: folders come class by class
        const auto row = static_cast<std::uint32_t>(k * samples_->count(part) / count);
        samples_->gather(part, std::array{row}, nullptr, one);
        ClassCounts counts;
        const double loss = instance.evaluate(x, one, counts);
        std::size_t answer = 0;
        while (counts.answers(answer) == 0) ++answer;
        const auto size = [&](std::size_t axis) {
          return static_cast<std::size_t>(format.input[axis]);
        };
        found.push_back({picture_of(one.inputs, size(0), size(1), size(2)),
                         class_name(static_cast<std::size_t>(one.labels[0])), class_name(answer),
                         std::exp(-loss)});
      }
      return found;
    });
  }

  const Preprocessing* preprocessing() const override {
    return inside_ ? &*inside_ : samples_->preprocessing();
  }
  const PreparedSamples* prepared() const override { return prepared_; }
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
      return to_bytes(build_model(options_.model, samples_->format(), options_.seed, options_.gpt));
    return read_script_file(options_.model);
  }

  std::string class_name(std::size_t number) const {
    const auto& names = preprocessing()->classes;
    return number < names.size() ? names[number] : std::to_string(number);
  }

  Part judged() const {
    return samples_->count(Part::validation) > 0 ? Part::validation : Part::train;
  }
  unsigned all_cores() const {
    return gpus_ > 0 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  }

  std::size_t visible_gpus() const {
    if (options_.device == NetworkDevice::cpu) return 0;
    const std::size_t count = gpus_that_work();
    if (count == 0)
      throw InputError("`device` cuda: LibTorch " TORCH_VERSION " sees no GPU here" + why_no_gpu() +
                       "; use `device` cpu, or a LibTorch with CUDA");
    settle_gpu_precision(options_.precision);
    return count;
  }

  at::Device device_for(std::size_t worker) const {
    if (gpus_ == 0) return at::kCPU;
    return {at::kCUDA, static_cast<c10::DeviceIndex>(worker % gpus_)};
  }

  std::unique_ptr<Instance> make_instance(std::size_t worker) const {
    const Computing how{.device = device_for(worker),
                        .own_memory = gpus_ > 0 || options_.as_on_gpu,
                        .loss = options_.loss,
                        .precision = options_.precision,
                        .channels_last = options_.channels_last};
    return std::make_unique<Instance>(script_, options_.model, samples_->format(), how);
  }

  // One copy of the data for all workers of a device.
  std::shared_ptr<const DeviceData> data_on(at::Device device) const {
    const std::lock_guard lock(data_mutex_);
    const auto [at, is_new] = data_.try_emplace(device.str());
    if (is_new)
      at->second =
          with_plain_errors([&] { return DeviceData::load(*samples_, device, most_resident); });
    return at->second;
  }

  // One gradient and one evaluation of a few samples show whether the network fits the data and
  // which implementation is fast. Two samples at first: a large network may take a second for each.
  void try_out(Instance& instance) {
    const std::vector<float> before = instance.buffers();
    SampleBatch batch;
    std::vector<float> gradient(dimension());
    const auto gradient_of = [&](std::size_t samples) {
      batch = first_samples(samples);
      instance.gradient(batch, gradient);
    };
    try {
      if (gpus_ == 0) engine_ = settle_cpu_path(gradient_of);
      gradient_of(2);
      if (gpus_ > 0) engine_ = gpus_in_words(instance, batch);
      engine_ = "LibTorch " TORCH_VERSION " on " + engine_;
      ClassCounts unused;
      instance.evaluate(start_, batch, unused);
    } catch (const std::exception& error) {
      throw_if_machine_failed(error);
      throw InputError("does not fit samples of " + samples_->format().input_shape() + " with " +
                       targets() + ": " + one_line(error));
    }
    if (instance.has_buffers()) instance.set_buffers(before);
  }

  SampleBatch first_samples(std::size_t at_most) const {
    std::vector<std::uint32_t> rows(std::min(at_most, samples_->count(Part::train)));
    std::iota(rows.begin(), rows.end(), 0u);
    SampleBatch batch;
    samples_->gather(Part::train, rows, nullptr, batch);
    return batch;
  }

  // Whether steps can be recorded, and where they are computed.
  std::string gpus_in_words(Instance& instance, const SampleBatch& batch) {
    const std::string why_not = options_.graph ? why_not_recorded(instance, batch) : "switched off";
    if (why_not.empty()) recorder_ = std::make_shared<StepRecorder>();
    return fmt::format("{}, {}{}", gpus_ > 1 ? fmt::format("{} GPUs", gpus_) : "a GPU",
                       recorder_ ? "each step one CUDA graph" : "without a CUDA graph: ", why_not);
  }

  static std::string why_not_recorded(Instance& instance, const SampleBatch& batch) {
    if (const std::string why = StepGraph::obstacle(instance.how().device); !why.empty())
      return why;
    try {
      const Place place(*instance.memory());
      const Instance::Inputs in = instance.inputs(batch);
      const StepGraph trial(*instance.memory()->stream, [&] { instance.compute(in); });
      return "";
    } catch (const std::exception& error) {
      return "the network cannot be recorded (" + one_line(error) + ")";
    }
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

  std::size_t rows_together() const {
    if (gpus_ == 0) return rows_at_a_time;
    const std::size_t rows = answers_at_a_time_gpu / samples_->format().targets;
    return std::clamp<std::size_t>(rows, 1, 512);
  }

  PartFigures look(std::span<const float> x, Part part, unsigned threads) const {
    std::size_t count = samples_->count(part);
    if (options_.evaluate_at_most > 0) count = std::min(count, options_.evaluate_at_most);
    PartEvaluation evaluation(*samples_, part, count, rows_together(), threads);
    in_parallel(threads, threads, [&](std::size_t thread) {
      with_instance([&](Instance& instance) {
        synchronise_buffers(instance);
        evaluation.take_pieces(instance, x, thread);
        return true;
      });
    });
    PartFigures found = evaluation.figures();
    found.classes = preprocessing()->classes;
    for (std::size_t k = found.classes.size(); k < found.counts.classes(); ++k)
      found.classes.push_back(class_name(k));  // outputs that no class belongs to
    return found;
  }

  const NetworkOptions options_;
  const std::shared_ptr<const Samples> samples_;
  const PreparedSamples* const prepared_ = dynamic_cast<const PreparedSamples*>(samples_.get());
  const std::string script_;  // the bytes of a TorchScript file; every instance is loaded from them
  const std::size_t gpus_;    // 0: everything is on the CPU
  std::vector<float> start_;
  std::string engine_;
  std::shared_ptr<StepRecorder> recorder_;               // null: steps are not recorded
  std::optional<Preprocessing> inside_;                  // of a file that takes raw data
  std::list<BlasCaller> evaluating_;                     // all cores, and one who asks for answers
  mutable std::mutex mutex_;                             // guards all below
  mutable std::vector<std::unique_ptr<Instance>> idle_;  // for evaluations
  mutable std::map<WorkerId, std::shared_ptr<SharedBuffers>> buffers_;
  mutable Loader loader_;
  mutable std::mutex data_mutex_;  // guards the next, which take long
  mutable std::map<std::string, std::shared_ptr<const DeviceData>> data_;
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
