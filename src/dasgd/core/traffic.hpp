// What went over links.
#pragma once

#include <cstdint>

namespace dasgd {

/// Gradients that left, one for each link that they took, and their bytes.
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;

  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
};

}  // namespace dasgd
