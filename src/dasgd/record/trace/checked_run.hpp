// A recorded run held against the definitions, and against what it says of itself.
#pragma once

#include <optional>
#include <string>

#include "dasgd/base/time.hpp"
#include "dasgd/record/step_limits.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "dasgd/staleness/virtual_sequence.hpp"

namespace dasgd {

struct CheckOptions {
  std::string path;                      ///< a trace, or the directory of a run
  std::optional<double> eta, L;          ///< both or none: they ask for the certificate
  std::optional<Nanoseconds> tolerance;  ///< between clocks; nothing: what the trace says
};

struct CheckedRun {
  std::string trace;  ///< the file
  TraceCheck check;
  Nanoseconds tolerance = 0;
  std::optional<VirtualSequence> sequence;
  std::optional<StepLimits> limits;
};

/// Reads the trace and audits it; of a directory also its summary. Throws InputError for what
/// cannot be read, or cannot be asked.
CheckedRun check_run(const CheckOptions& options);

/// One object on one line (docs/run_directory.md).
std::string to_json(const CheckedRun& run);
std::string describe(const Violation& violation);

}  // namespace dasgd
