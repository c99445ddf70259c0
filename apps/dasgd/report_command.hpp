// The report at the end of a run.
#pragma once

#include <string>

#include "config.hpp"

namespace dasgd::app {

/// Writes the report of the run in `directory`, unless it is not wanted.
void write_run_report(const Config& config, const std::string& directory);

}  // namespace dasgd::app
