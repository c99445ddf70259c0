// Bytes in a few digits, by which people and scripts see that they are the same.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace dasgd {

/// "xxh3-128:" and 32 hexadecimal digits.
std::string digest_of(std::span<const std::byte> bytes);

}  // namespace dasgd
