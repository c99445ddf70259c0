// The charts of a report as SVG files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dasgd/report/run.hpp"

namespace dasgd::report {

struct Chart {
  std::string file;  ///< "loss.svg"
  std::string svg;
};

/// Every chart for which the runs have data.
std::vector<Chart> charts(std::span<const Run> runs);

}  // namespace dasgd::report
