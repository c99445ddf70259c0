// Neural networks as objectives, computed by LibTorch. This header does not include LibTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/images/shown_samples.hpp"
#include "dasgd/data/predictor.hpp"
#include "dasgd/data/preparation/prepared_samples.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd {

/// mean_squared_error and huber: for targets that are numbers, or for the differences between
/// outputs and 1 for the right class and 0 for others.
enum class NetworkLoss { cross_entropy, mean_squared_error, huber };
/// Whether it asks for numbers where labels are written as such.
inline bool is_for_numbers(NetworkLoss loss) { return loss != NetworkLoss::cross_entropy; }
enum class NetworkDevice { cpu, cuda };
/// How products are computed on a GPU: in float32, in float32 rounded to 10 bits before it is
/// multiplied, in bfloat16.
enum class NetworkPrecision { fp32, tf32, bf16 };

/// The shape of `gpt`. A width of 0: `small`, that of GPT-2 with 124 million parameters.
struct GptShape {
  std::size_t width = 0, depth = 0, heads = 0;
  std::size_t tokens = 0;  ///< rows of the table of tokens; 0: as many as the text has
};

struct NetworkOptions {
  std::string model = "cnn";  ///< one of network_names(), or a TorchScript file
  NetworkLoss loss = NetworkLoss::cross_entropy;
  NetworkDevice device = NetworkDevice::cpu;  ///< cuda: workers take the visible GPUs in turn
  std::uint64_t seed = 1;                     ///< for the initial weights and augmentation
  std::size_t evaluate_at_most = 0;           ///< samples that `loss` and `evaluate` see; 0: all
  NetworkPrecision precision = NetworkPrecision::fp32;  ///< on a GPU
  bool channels_last = false;                           ///< images with their channels innermost
  bool graph = true;       ///< a step on a GPU is recorded once as a CUDA graph and replayed
  bool as_on_gpu = false;  ///< on a CPU: all is done as on a GPU, for tests
  GptShape gpt = {};       ///< for the model `gpt`
};

/// A network with its data. x is all its trainable parameters, one after the other. Every worker
/// computes with an instance of its own, whose parameters are views of the worker's x.
///
/// Buffers, such as the statistics of batch normalisation, stay local to a worker; `loss`,
/// `evaluate` and `torchscript` use their mean over the workers of the last run, which at the end
/// of a run is their final synchronisation.
class Network : public Objective<float>,
                public Preprocessed,
                public ShowsSamples,
                public HoldsSamples {
 public:
  /// The bytes of a TorchScript file with x as its parameters: torch.jit.load opens it. It takes
  /// raw data, and has `classes`, a list of names, and `preprocessing`, a text.
  virtual std::string torchscript(std::span<const float> x) const = 0;
  /// What computes: "LibTorch 1.13.1 on the CPU without oneDNN (3.4 times as fast here)".
  virtual std::string engine() const = 0;
};

/// The networks that are built in.
inline const std::vector<std::string>& network_names() {
  static const std::vector<std::string> names{"cnn", "mlp", "resnet18", "char-transformer", "gpt"};
  return names;
}

/// Throws InputError for a file that is not TorchScript, a network that does not fit the data, a
/// device that is not there.
std::unique_ptr<Network> make_network(const NetworkOptions& options,
                                      std::shared_ptr<const Samples> samples);

/// A network from its file. Its preprocessing is empty unless a run has left the file. Throws
/// InputError for a file that is not TorchScript.
std::unique_ptr<Predictor> open_saved_network(const std::string& path);

}  // namespace dasgd
