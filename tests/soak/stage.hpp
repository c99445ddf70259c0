// Plays a scenario with the real program and looks at what it leaves behind.
#pragma once

#include <string>
#include <vector>

#include "soak/scenario.hpp"

namespace dasgd::soak {

struct Verdict {
  std::vector<std::string> played;  ///< the commands, and what was done to them
  std::vector<std::string> wrong;   ///< what is not as it must be; empty: all is
  std::size_t blows = 0;            ///< that met a process which still ran
};

/// Plays it in `directory`, which holds the data and the graph.
Verdict play(const Scenario& scenario, const std::string& binary, const std::string& directory);

}  // namespace dasgd::soak
