// A trace held against the summary of its run.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "dasgd/staleness/trace_check.hpp"

namespace dasgd {

/// What the trace of a run's last leg says otherwise than its summary.json; nothing is compared
/// that the summary does not have. A leg without a gradient has an empty trace.
std::vector<Violation> contradictions(const TraceCheck& check, const nlohmann::json& summary);

}  // namespace dasgd
