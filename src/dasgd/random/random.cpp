#include "dasgd/random/random.hpp"

#include <Random123/philox.h>
#include <cmath>
#include <numbers>

namespace dasgd {

Random::Random(std::uint64_t seed, Purpose purpose, std::uint32_t a, std::uint32_t b)
    : seed_(seed), stream_{static_cast<std::uint32_t>(purpose), a, b} {}

std::uint32_t Random::bits() {
  if (used_ == buffer_.size()) {
    const r123::Philox4x32::key_type key{
        {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
    const r123::Philox4x32::ctr_type counter{{block_++, stream_[0], stream_[1], stream_[2]}};
    const auto block = r123::Philox4x32{}(counter, key);
    for (std::size_t i = 0; i < buffer_.size(); ++i) buffer_[i] = block[i];
    used_ = 0;
  }
  return buffer_[used_++];
}

std::uint32_t Random::below(std::uint32_t bound) {
  // Lemire's multiplication method; the rare draws that would bias the result are thrown away.
  const std::uint32_t reject_under = (0u - bound) % bound;
  for (;;) {
    const std::uint64_t product = std::uint64_t{bits()} * bound;
    if (static_cast<std::uint32_t>(product) >= reject_under)
      return static_cast<std::uint32_t>(product >> 32);
  }
}

double Random::uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::vector<std::uint32_t> permutation(std::size_t size, Random random) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  random.shuffle(order);
  return order;
}

}  // namespace dasgd
