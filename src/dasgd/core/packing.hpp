// The numbers of an update in the bits that they need.
#pragma once

#include <cstddef>
#include <span>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/fixed_point.hpp"

namespace dasgd {

/// Packs numbers (as they lie in memory) in blocks: each says its unit, a power of two, and the
/// width of its numbers. Nothing is rounded.
Bytes pack(std::span<const std::byte> numbers, NumberFormat format);

/// The reverse, into numbers of known size; false where `packed` is not what `pack` makes.
bool unpack(std::span<const std::byte> packed, NumberFormat format, std::span<std::byte> numbers);

}  // namespace dasgd
