// One network that computes: its parameters and gradients are views of flat memory.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <torch/script.h>
#include <vector>

#include "dasgd/adapters/torch/device/device_memory.hpp"
#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd::torch_adapter {

/// How a network computes.
struct Computing {
  at::Device device = at::kCPU;
  /// x and the gradient lie in memory of the network: always so on a GPU, on a CPU for tests.
  bool own_memory = false;
  NetworkLoss loss = NetworkLoss::cross_entropy;
  NetworkPrecision precision = NetworkPrecision::fp32;
  bool channels_last = false;
};

/// Owned by one thread at a time.
class Instance {
 public:
  /// `script`: the bytes of the TorchScript file `name`. Throws what LibTorch throws, and
  /// InputError.
  Instance(const std::string& script, const std::string& name, const SampleFormat& format,
           const Computing& how);

  std::size_t dimension() const { return dimension_; }
  /// The parameters as they were loaded; those that share their memory are one.
  std::vector<float> parameters() const;

  struct Inputs {
    at::Tensor input, target;
    at::Tensor weights;  ///< of the samples; not there: all weigh 1
  };
  /// A batch as tensors that point into it.
  Inputs views_of(const SampleBatch& batch) const;
  /// The same in the memory of the device.
  Inputs inputs(const SampleBatch& batch) const;
  /// With its own memory: computes at the x in `memory()`, leaves the gradient in
  /// `flat_gradient()` and returns the loss, which is still being computed where the device is a
  /// GPU. Nothing here waits for a GPU, so that it can be recorded as a graph.
  at::Tensor compute(const Inputs& in);
  const at::Tensor& flat_gradient() const { return gradient_; }

  /// Parameters become x: by pointing there on a CPU, by a copy on a device.
  void show(std::span<const float> x);
  /// Writes the mean gradient over the batch at the x that it was shown, or that somebody has put
  /// into `memory()`, and returns the mean loss.
  double gradient(const SampleBatch& batch, std::span<float> gradient);
  /// Returns the mean loss and counts right and wrong answers, where targets are classes; where
  /// they are numbers, writes the mean squared error to `mean_square` unless that is null.
  double evaluate(std::span<const float> x, const SampleBatch& batch, ClassCounts& counts,
                  double* mean_square = nullptr);

  /// The numbers that are not trained, flat: statistics such as those of batch normalisation, then
  /// of how many batches they are, where the network counts them.
  bool has_buffers() const { return !buffers_.empty(); }
  std::size_t counters() const { return counters_; }
  std::vector<float> buffers() const;
  void set_buffers(std::span<const float> values);

  /// A TorchScript file with these parameters, in evaluation mode, that takes raw data: this
  /// preprocessing is put before it, unless it has one or there is none (null).
  std::string script(std::span<const float> x, const Preprocessing* preprocessing);
  /// What it does to raw data itself; nothing if it is not a file of a run.
  std::optional<Preprocessing> preprocessing_inside() const;

  const std::shared_ptr<DeviceMemory>& memory() const { return memory_; }
  const SampleFormat& format() const { return format_; }
  const Computing& how() const { return how_; }

 private:
  void find_parameters();
  void find_buffers();
  void take_memory();
  void bind_parameters(const at::Tensor& x);
  void bind_gradients(const at::Tensor& gradient);
  void drop_gradients();
  void gather_gradients();
  at::Tensor forward(const at::Tensor& input);
  at::Tensor loss_of(const at::Tensor& output, const Inputs& in) const;

  torch::jit::Module module_;
  const SampleFormat& format_;
  const Computing how_;
  std::vector<at::Tensor> parameters_, buffers_;
  struct Tied {
    at::Tensor other;
    std::size_t parameter;
    bool transposed;  // the same numbers in another order

    /// `first`, which is laid out like the parameter, as the other sees it.
    at::Tensor view(const at::Tensor& first) const;
  };
  std::vector<Tied> tied_;  // other tensors of the module in the memory of a parameter
  std::size_t dimension_ = 0, counters_ = 0;
  std::shared_ptr<DeviceMemory> memory_;
  at::Tensor gradient_;             // flat, on the device
  const float* bound_x_ = nullptr;  // where parameters and gradients point to now, on a CPU
  const float* bound_gradient_ = nullptr;
};

}  // namespace dasgd::torch_adapter
