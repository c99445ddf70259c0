// Numbers of updates and sums in the bits that they need.
#pragma once

#include <cstddef>
#include <span>

#include "dasgd/base/bytes.hpp"

namespace dasgd {

/// Packs numbers of so many bytes each (4, 8 or 16, as they lie in memory) in blocks: each says its
/// unit, a power of two, and the width of its numbers. Nothing is rounded.
Bytes pack(std::span<const std::byte> numbers, std::size_t number_bytes);

/// The reverse, into numbers of known size; false where `packed` is not what `pack` makes.
bool unpack(std::span<const std::byte> packed, std::size_t number_bytes,
            std::span<std::byte> numbers);

}  // namespace dasgd
