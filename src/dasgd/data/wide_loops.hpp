// What is done with each number of a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dasgd {

/// Writes bytes as floats.
void widen(std::span<const std::uint8_t> bytes, float* to);

/// One sum, then one product: what LibTorch does in model.pt, to the bit.
void rescale(std::span<float> values, float less, float times);

}  // namespace dasgd
