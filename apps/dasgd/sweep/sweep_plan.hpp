// From what was asked for to the runs of a sweep.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/config/config.hpp"
#include "dasgd/record/sweep.hpp"
#include "dasgd/settings/settings.hpp"

namespace dasgd::app {

struct SweepRequest {
  std::string engine;             ///< simulate, threads or mpi
  std::vector<std::string> vary;  ///< KEY=SPEC
  std::optional<std::size_t> seeds, jobs;
  std::string out, launcher = "mpirun";
  bool quiet = false, no_report = false;
  /// The base with these keys set, resolved for that command. Throws InputError.
  using Values = std::vector<std::pair<std::string, std::string>>;
  std::function<config::Config(config::Command, const Values&)> resolve;
};

/// Every run of a sweep with the text of its config file.
struct SweepPlan {
  config::Command command = config::Command::simulate;
  Sweep sweep;
  std::vector<std::string> configs;   ///< of each run
  std::vector<std::size_t> workers;   ///< of each run
  std::vector<std::size_t> settings;  ///< of each run: which combination of values it has
};

/// Multiplies out what is varied and resolves every run, so that what cannot run is known before
/// the first one begins. Throws InputError.
SweepPlan plan_sweep(const SweepRequest& request);

/// Puts the plan into a directory that is empty, or in which the same sweep was begun: every run
/// that is there has the config that the plan has for it. Writes sweep.json and configs/. Throws
/// InputError.
void open_sweep(const SweepPlan& plan, const std::string& directory);

/// Where the config of a run stands.
std::string sweep_config_path(const std::string& directory, const std::string& name);

}  // namespace dasgd::app
