#include "dasgd/data/wide_loops.hpp"

#include "dasgd/base/kernel.hpp"

namespace dasgd {

DASGD_KERNEL void widen(std::span<const std::uint8_t> bytes, float* to) {
  for (std::size_t i = 0; i < bytes.size(); ++i) to[i] = static_cast<float>(bytes[i]);
}

DASGD_KERNEL void rescale(std::span<float> values, float less, float times) {
  for (float& value : values) value = (value - less) * times;
}

}  // namespace dasgd
