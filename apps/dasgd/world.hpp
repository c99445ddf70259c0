// The world of a simulation, as people write it.
#pragma once

#include <string>
#include <vector>

#include "dasgd/sim/world.hpp"

namespace dasgd::app {

/// The settings that only a simulation has, as text. Each was read once when it was set.
struct WorldText {
  std::string compute = "50ms", latency = "50us", apply = "5us", start, bandwidth;
  std::string delay, reorder, duplicate, drop;
  std::vector<std::string> pauses, partitions;
  std::size_t threads = 1;
};

/// "50ms", "1ms,2ms,5ms" (one per worker), "uniform:A:B", "lognormal:MEDIAN:SIGMA",
/// "exponential:MEAN". Throws InputError.
TimeModel parse_time_model(const std::string& text);

/// All of it. Throws InputError.
VirtualWorld make_world(const WorldText& text);

}  // namespace dasgd::app
