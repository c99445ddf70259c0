// What a proved step size rests on, and whether a run kept to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dasgd {

/// One condition of a proof: a number that is at most `at_most`, or a fact in words.
struct Assumption {
  std::string name;               ///< "W", "S_max", "sigma2", "r0", "L", "causal", "timing", ...
  std::optional<double> at_most;  ///< nothing: a fact, such as "every delivery was causal"
};

/// The same after the run.
struct CheckedAssumption : Assumption {
  std::optional<double> found;  ///< in the run; nothing: not a number, or not measured
  std::optional<bool> held;     ///< nothing: a run cannot show it
  std::string how;              ///< how it was checked, or why it was not
};

}  // namespace dasgd
