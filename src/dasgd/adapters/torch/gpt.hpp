// A decoder-only transformer in the shape of GPT-2.
#pragma once

#include <cstdint>
#include <torch/script.h>

#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd::torch_adapter {

/// Blocks of attention over what came before, the table of tokens used again at the end; weights
/// are drawn as GPT-2's. Throws InputError for samples that are not text, or an impossible shape.
torch::jit::Module build_gpt(GptShape shape, const SampleFormat& format, std::uint64_t seed);

}  // namespace dasgd::torch_adapter
