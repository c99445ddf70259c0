// How the figures of a run stand in summary.json and on the live page.
#pragma once

#include <nlohmann/json.hpp>

#include "dasgd/record/run_summary.hpp"

namespace dasgd {

nlohmann::ordered_json summary_json(const RunSummary& summary);

}  // namespace dasgd
