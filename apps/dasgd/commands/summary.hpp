// What a person reads at the end of a run.
#pragma once

#include <string>

#include "dasgd/config/config.hpp"
#include "dasgd/record/run_summary.hpp"

namespace dasgd::app {

using config::Config;

/// The loose staleness of a run in words.
std::string describe_S_hat(const StalenessSummary& staleness);

/// Prints the summary of a run that was "trained" or "simulated"; everything in it is in files too,
/// so a standard output that takes nothing is not a failure.
void print_summary(const std::string& verb, const Config& config, const RunSummary& summary,
                   const std::string& directory);

/// The last line of a run whose members come and go; nothing of others.
void print_members(const RunSummary& summary);

}  // namespace dasgd::app
