// A random order of 0 .. size - 1 that takes no memory: any place of it can be asked for at once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dasgd/random/random.hpp"

namespace dasgd {

/// A Feistel network on the smallest power of two that holds `size`; a result outside goes round
/// again until it is inside (cycle walking), so that it is a permutation of exactly 0 .. size - 1.
class IndexPermutation {
 public:
  /// Same size and stream, same order, on every machine.
  IndexPermutation(std::uint32_t size, Random random) : size_(size) {
    const int bits = size <= 2 ? 2 : std::bit_width(size - 1);
    low_bits_ = bits / 2;
    low_mask_ = (std::uint32_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint32_t{1} << (bits - low_bits_)) - 1;
    for (std::uint32_t& key : keys_) key = random.bits();
  }

  std::uint32_t size() const { return size_; }
  /// The index at `place`.
  std::uint32_t operator[](std::uint32_t place) const {
    do place = round_trip(place);
    while (place >= size_);
    return place;
  }

 private:
  static std::uint32_t mixed(std::uint32_t value, std::uint32_t key) {
    const std::uint64_t product = (std::uint64_t{value} ^ key) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::uint32_t>(product >> 32) ^ static_cast<std::uint32_t>(product >> 13);
  }
  std::uint32_t round_trip(std::uint32_t place) const {
    std::uint32_t low = place & low_mask_, high = place >> low_bits_;
    for (std::size_t r = 0; r < keys_.size(); r += 2) {
      high ^= mixed(low, keys_[r]) & high_mask_;
      low ^= mixed(high, keys_[r + 1]) & low_mask_;
    }
    return high << low_bits_ | low;
  }

  std::uint32_t size_, low_mask_, high_mask_;
  int low_bits_;
  std::array<std::uint32_t, 8> keys_;
};

}  // namespace dasgd
