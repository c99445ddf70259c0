// In how many bits a worker sends the numbers of an update.
#pragma once

#include <cstddef>
#include <string>

#include "dasgd/core/fixed_point.hpp"

namespace dasgd {

enum class MessageFormat {
  full,       ///< as they were rounded for the replica
  int8,       ///< 8 bits each, with a unit for every block
  int4,       ///< 4 bits each
  ternary,    ///< -1, 0 or 1
  automatic,  ///< of the above, the most bits that a card carries in time; chosen before a run
};

/// "full", "int8", "int4", "ternary" or "auto". Throws InputError for anything else.
MessageFormat parse_message_format(const std::string& text);
std::string to_string(MessageFormat format);

/// Numbers that share a unit.
inline constexpr std::size_t block_size = 256;
/// Of one number, its sign included; of `full` as in memory.
int bits_of(MessageFormat format, NumberFormat numbers);
/// Of a message with the sum of so many updates of this dimension.
std::size_t message_bytes(MessageFormat format, NumberFormat numbers, std::size_t dimension,
                          std::size_t updates);

}  // namespace dasgd
