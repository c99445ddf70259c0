// A run directory that a simulation learns from.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "dasgd/config/config.hpp"
#include "dasgd/sim/calibration.hpp"
#include "dasgd/staleness/trace_line.hpp"

namespace dasgd::config {

/// Sets what the run at `directory` was asked to do, except the keys in `overridden`; how long
/// things took is to be replayed from its trace, so its own pace and chaos are left out. Throws
/// InputError for a directory that is not a finished run with a trace.
void read_recorded_config(const std::string& directory, const std::set<std::string>& overridden,
                          Config& config);

/// What `replay:PATH` means: PATH is a run directory or a trace. Throws InputError.
MeasuredTimes measure_run(const std::string& path);

/// The summary of a finished run, and the trace of one. Throw InputError.
nlohmann::json read_summary(const std::string& directory);
std::vector<TraceLine> read_sound_trace(const std::string& path);

}  // namespace dasgd::config
