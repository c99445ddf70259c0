#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace dasgd::test {

inline std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
          static_cast<char>(v)};
}

inline std::string idx_images(std::uint32_t count, std::uint32_t side, std::uint32_t salt) {
  std::string bytes = big_endian(0x803) + big_endian(count) + big_endian(side) + big_endian(side);
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t p = 0; p < side * side; ++p) {
      const bool bright = p % 3 == i % 3;  // three classes, which differ in which pixels are bright
      bytes += static_cast<char>((bright ? 150 : 10) + (i * 31 + p * 17 + salt) % 60);
    }
  return bytes;
}

inline std::string idx_labels(std::uint32_t count) {
  std::string bytes = big_endian(0x801) + big_endian(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 3);
  return bytes;
}

/// A small idx directory: three classes that a linear model can separate.
inline void write_tiny_idx(const TemporaryDirectory& directory, std::uint32_t train = 90,
                           std::uint32_t test = 30, std::uint32_t side = 4) {
  directory.write("train-images-idx3-ubyte", idx_images(train, side, 0));
  directory.write("train-labels-idx1-ubyte", idx_labels(train));
  directory.write("t10k-images-idx3-ubyte", idx_images(test, side, 7));
  directory.write("t10k-labels-idx1-ubyte", idx_labels(test));
}

}  // namespace dasgd::test
