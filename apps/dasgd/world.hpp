// The world of a simulation, as people write it.
#pragma once

#include <string>
#include <vector>

#include "dasgd/sim/world.hpp"

namespace dasgd::app {

/// The settings that only a simulation has, and those of chaos, as text. Each was read once when it
/// was set.
struct WorldText {
  std::string compute = "50ms", latency = "50us", apply = "5us", start, bandwidth;
  std::string delay, reorder, duplicate, drop;
  std::vector<std::string> pauses, partitions;
  std::size_t threads = 1;
};

/// "50ms", "1ms,2ms,5ms" (one per worker), "uniform:A:B", "lognormal:MEDIAN:SIGMA",
/// "exponential:MEAN". "replay:PATH" is read by `make_world`. Throws InputError.
TimeModel parse_time_model(const std::string& text);

/// The chaos alone. Throws InputError.
Chaos make_chaos(const WorldText& text);

/// All of it, for as many workers as given; 0: as many as it names. What was recorded of fewer
/// workers is repeated. Throws InputError.
VirtualWorld make_world(const WorldText& text, std::size_t workers = 0);

}  // namespace dasgd::app
