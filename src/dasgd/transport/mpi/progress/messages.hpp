// How messages and the numbers that follow them stand in MPI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace dasgd::mpi {

inline constexpr int message_tag = 0, numbers_tag = 1;

/// What a card sends in no time.
inline constexpr std::size_t few_bytes = std::size_t{64} << 10;

inline std::string name_of_rank(int rank) { return "rank " + std::to_string(rank); }

/// Calls `piece(offset, length)` for a whole that MPI cannot count at once.
template <typename Piece>
void for_each_piece(std::size_t total, std::size_t largest, Piece&& piece) {
  for (std::size_t offset = 0; offset < total; offset += largest)
    piece(offset, static_cast<int>(std::min(largest, total - offset)));
}

}  // namespace dasgd::mpi
