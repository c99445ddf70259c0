// One line of a trace: a worker applies a gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dasgd/base/time.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd {

/// As a run hands it in and as a file has it (docs/run_directory.md). A run of dasgd has all of it
/// but `start` of foreign gradients and S_hat where that is known only later; other traces may have
/// less.
struct TraceLine {
  WorkerId worker{};
  std::uint64_t step = 0;  ///< t before the application
  GradientName name;
  std::uint64_t origin_step = 0;
  std::optional<Nanoseconds> time;   ///< when the application was complete
  std::optional<Nanoseconds> start;  ///< of an own gradient: when its computation began
  std::optional<std::uint64_t> S, S_hat;
  std::size_t line = 0;  ///< its number in the file that it was read from
};

}  // namespace dasgd
