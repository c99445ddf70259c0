// Runs as text: CSV for people and their tools, JSON for the journal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dasgd/lab/referee/contest/contest.hpp"

namespace dasgd {

nlohmann::ordered_json to_json(const ContestRun& run);
ContestRun run_from_json(const nlohmann::ordered_json& json);

/// compare.csv: a line per run.
std::string runs_csv(const std::vector<ContestRow>& rows);
/// curves.csv: a line per look.
std::string curves_csv(const std::vector<ContestRow>& rows);

}  // namespace dasgd
