// Modules of TorchScript, written here instead of in Python.
#pragma once

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <torch/script.h>
#include <vector>

#include "dasgd/random/random.hpp"

namespace dasgd::torch_adapter {

using torch::jit::Module;
using Shape = std::vector<std::int64_t>;

/// Makes modules; all weights of a network come from one stream of random numbers.
class Builder {
 public:
  explicit Builder(std::uint64_t seed) : chance_(seed, Purpose::weights) {}

  static Module module(const std::string& name) {
    Module made("dasgd." + name);
    made.register_attribute("training", c10::BoolType::get(), true);
    return made;
  }

  Module linear(std::int64_t in, std::int64_t out) {
    Module made = module("Linear");
    parameter(made, "weight", glorot({out, in}, in, out));
    parameter(made, "bias", torch::zeros({out}));
    made.define("def forward(self, x):\n    return torch.linear(x, self.weight, self.bias)\n");
    return made;
  }

  Module convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride,
                     std::int64_t padding, bool bias) {
    Module made = module("Convolution");
    parameter(made, "weight", glorot({out, in, size, size}, in * size * size, out * size * size));
    if (bias) parameter(made, "bias", torch::zeros({out}));
    made.define(
        fmt::format("def forward(self, x):\n"
                    "    return torch.conv2d(x, self.weight, {}, [{s}, {s}], [{p}, {p}])\n",
                    bias ? "self.bias" : "None", fmt::arg("s", stride), fmt::arg("p", padding)));
    return made;
  }

  Module batch_norm(std::int64_t channels) {
    Module made = module("BatchNorm");
    parameter(made, "weight", torch::ones({channels}));
    parameter(made, "bias", torch::zeros({channels}));
    made.register_buffer("running_mean", torch::zeros({channels}));
    made.register_buffer("running_var", torch::ones({channels}));
    made.define(
        "def forward(self, x):\n"
        "    return torch.batch_norm(x, self.weight, self.bias, self.running_mean,\n"
        "                            self.running_var, self.training, 0.1, 1e-05, True)\n");
    return made;
  }

  Module layer_norm(std::int64_t width) {
    Module made = module("LayerNorm");
    parameter(made, "weight", torch::ones({width}));
    parameter(made, "bias", torch::zeros({width}));
    made.define(
        fmt::format("def forward(self, x):\n"
                    "    return torch.layer_norm(x, [{}], self.weight, self.bias, 1e-05)\n",
                    width));
    return made;
  }

  Module embedding(std::int64_t count, std::int64_t width) {
    Module made = module("Embedding");
    parameter(made, "weight", normal({count, width}, 0.05));
    made.define("def forward(self, x):\n    return torch.embedding(self.weight, x)\n");
    return made;
  }

  static void parameter(Module& module, const std::string& name, torch::Tensor value) {
    module.register_parameter(name, value.set_requires_grad(true), false);
  }

  torch::Tensor normal(const Shape& shape, double deviation) {
    return draw(shape, [&] { return chance_.normal() * deviation; });
  }

 private:
  // Uniform with the variance that keeps activations and gradients at their size.
  torch::Tensor glorot(const Shape& shape, std::int64_t in, std::int64_t out) {
    const double limit = std::sqrt(6.0 / static_cast<double>(in + out));
    return draw(shape, [&] { return (2 * chance_.uniform() - 1) * limit; });
  }
  template <typename Next>
  static torch::Tensor draw(const Shape& shape, Next&& next) {
    torch::Tensor tensor = torch::empty(shape);
    float* const to = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) to[i] = static_cast<float>(next());
    return tensor;
  }

  Random chance_;
};

}  // namespace dasgd::torch_adapter
