// A report for people on a terminal: figures, sparklines, the audit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dasgd/report/run.hpp"

namespace dasgd::report {

/// The values as one line of blocks, `width` at most; each block is the mean of its values, and
/// the scale reaches from the least to the most of all blocks. Values that are not finite leave a
/// gap.
std::string sparkline(std::span<const double> values, std::size_t width);

/// The summary of a run with its curves, in 80 columns.
std::string to_text(const Run& run);

}  // namespace dasgd::report
