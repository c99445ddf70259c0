// Who wins where, drawn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dasgd/lab/referee/results.hpp"

namespace dasgd {

/// Rivals against worlds: how long each takes against DASGD, blue where it is shown to be faster,
/// orange where slower, grey where nothing is shown. SVG of that width, see Drawing.
std::string ratio_map(const std::vector<JudgedWorld>& worlds, double width = 0);

/// The winners over straggler and latency, where the worlds are straggler:X+latency:Y with several
/// X and Y; grey where the winner is not shown to be faster than the next. SVG.
std::optional<std::string> winner_map(const std::vector<JudgedWorld>& worlds, double width = 0);

}  // namespace dasgd
