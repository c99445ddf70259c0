// Reads traces in the contract's form: JSON Lines, one object per application
// (docs/run_directory.md).
#pragma once

#include <string>
#include <vector>

#include "dasgd/staleness/trace_check.hpp"

namespace dasgd {

struct TraceFile {
  std::vector<Application> applications;
  std::vector<Violation> malformed;  ///< lines that are no JSON or lack a field
  Nanoseconds tolerance = 0;         ///< of its clocks, where a "clocks" line states it
};

/// Lines with an "ev" that is not known are skipped. Throws InputError when the file cannot be
/// read.
TraceFile read_trace(const std::string& path);

}  // namespace dasgd
