// Reads traces in the contract's form: JSON Lines, one object per application
// (docs/run_directory.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dasgd/staleness/trace_check.hpp"

namespace dasgd {

struct TraceFile {
  std::vector<TraceLine> applications;
  std::vector<Violation> malformed;  ///< lines that are not JSON or lack a field
  Nanoseconds tolerance = 0;         ///< of its clocks, where a "clocks" line states it
};

/// Reads a trace of any length line by line and returns the tolerance of its clocks. Lines with an
/// "ev" that is not known are skipped. Throws InputError when the file cannot be read.
Nanoseconds scan_trace(const std::string& path,
                       const std::function<void(const TraceLine&)>& on_application,
                       const std::function<void(const Violation&)>& on_malformed);

/// All of it at once. Throws InputError when the file cannot be read.
TraceFile read_trace(const std::string& path);

}  // namespace dasgd
