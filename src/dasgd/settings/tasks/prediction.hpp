// What a simulation predicted of a recorded run, beside what was measured.
#pragma once

#include <string>
#include <vector>

#include "dasgd/record/run_summary.hpp"

namespace dasgd::config {

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
/// A table for a person.
std::string to_text(const Prediction& prediction, const std::string& directory);
/// {"gradients_per_second": {"predicted", "measured", "ratio"}, ...}
std::string to_json(const Prediction& prediction);

}  // namespace dasgd::config
