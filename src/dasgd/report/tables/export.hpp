// Runs as tables: runs.csv, metrics.csv and workers.csv.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dasgd::report {

struct Exported {
  std::vector<std::string> files;
  std::size_t runs = 0;     ///< in the tables
  std::size_t missing = 0;  ///< of sweeps: runs that are not finished
};

/// Writes into `directory` what the sweeps and runs at `paths` have. runs.csv has a line for every
/// run: its name, the settings that differ from the others, its seed, and everything in its
/// summary.json that is one value (of objects in it, as `object.key`). metrics.csv has a line for
/// every line of a metrics.jsonl, workers.csv one for every worker of every run; both begin with
/// the same columns. Without the wall time runs.csv lacks `wall_seconds`, the only number in which
/// two equal simulations differ. Throws InputError for a directory that holds neither.
Exported export_runs(const std::vector<std::string>& paths, const std::string& directory,
                     bool wall_time = true);

}  // namespace dasgd::report
