// How limits of the step size stand in summary.json and in what `dasgd check --json` prints.
#pragma once

#include <nlohmann/json.hpp>

#include "dasgd/record/step_limits.hpp"

namespace dasgd {

/// Adds their fields to an object.
void write(const StepLimits& limits, nlohmann::ordered_json& json);

}  // namespace dasgd
