// dasgd sweep: many runs that differ in some settings.
#pragma once

#include "sweep/sweep_plan.hpp"

namespace dasgd::app {

/// Runs what is not finished yet and returns the exit status.
int sweep_command(const SweepRequest& request);

}  // namespace dasgd::app
