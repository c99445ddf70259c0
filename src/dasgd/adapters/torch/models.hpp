// The networks that are built in, as TorchScript programs: one way to train, save and load them
// all.
#pragma once

#include <cstdint>
#include <string>
#include <torch/script.h>

#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd::torch_adapter {

/// Builds a network of network_names() for samples of this format; weights are drawn from the seed
/// by Glorot's rule, biases are zero. Parameters have the names that torch.nn would give them.
/// Throws InputError for samples that the network cannot take. `gpt` is the shape of that one.
torch::jit::Module build_model(const std::string& name, const SampleFormat& format,
                               std::uint64_t seed, const GptShape& gpt = {});

}  // namespace dasgd::torch_adapter
