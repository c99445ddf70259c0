// A run directory that a simulation learns from.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/sim/calibration.hpp"

namespace dasgd::app {

/// Sets what the run at `directory` was asked to do, except the keys in `overridden`; how long
/// things took is to be replayed from its trace, so its own pace and chaos are left out. Throws
/// InputError for a directory that is no finished run with a trace.
void read_recorded_config(const std::string& directory, const std::set<std::string>& overridden,
                          Config& config);

/// What `replay:PATH` means: PATH is a run directory or a trace. Throws InputError.
MeasuredTimes measure_run(const std::string& path);

/// A prediction beside what was measured.
struct Prediction {
  struct Line {
    std::string name;
    double predicted, measured;
    double ratio() const { return predicted / measured; }
  };
  std::vector<Line> lines;
};

/// Compares a simulation with the run at `directory`.
Prediction compare_with_run(const std::string& directory, const RunSummary& simulated);
void print_prediction(const Prediction& prediction, const std::string& directory);
/// {"gradients_per_second": {"predicted", "measured", "ratio"}, ...}
std::string to_json(const Prediction& prediction);

}  // namespace dasgd::app
