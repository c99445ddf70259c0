// A sweep on disk: which runs belong to it, and which of them are finished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dasgd {

/// One run of a sweep: its values of the varied keys, in the order of the keys.
struct SweepRun {
  std::string name;  ///< of its directory: "lr=0.1,workers=10,seed=3"
  std::vector<std::string> values;
  std::uint64_t seed = 0;
};

/// What sweep.json says.
struct Sweep {
  std::string engine;
  std::vector<std::string> keys;
  std::vector<SweepRun> runs;  ///< all seeds of a setting stand together
};

inline constexpr const char* sweep_file = "sweep.json";
/// Where the run of that name leaves its files.
std::string sweep_run_path(const std::string& directory, const std::string& name);

bool is_sweep(const std::string& directory);
std::string to_json(const Sweep& sweep);
/// Throws InputError for a directory that is not a sweep.
Sweep read_sweep(const std::string& directory);

/// Whether everything that a run leaves at its end is there. A run that diverged has ended, one
/// that was interrupted has not.
bool is_finished_run(const std::string& directory);

}  // namespace dasgd
