// The settings in groups, one table of the config file each; a file for what belongs together.
#pragma once

#include <vector>

#include "dasgd/settings/settings.hpp"

namespace dasgd::config {

// problem_settings.cpp: without a table.
std::vector<Setting> problem_settings();
/// Of train: rows that arrive.
std::vector<Setting> stream_settings();

// data_settings.cpp: how data is read and split; without a table.
std::vector<Setting> data_settings();

// run_settings.cpp
std::vector<Setting> algorithm_settings();  ///< workers, step size, batch, seed; without a table
std::vector<Setting> topology_settings();
std::vector<Setting> budget_settings();
std::vector<Setting> pace_settings();  ///< of both engines
std::vector<Setting> guard_settings();
std::vector<Setting> rule_settings();

// world_settings.cpp
/// [pace] of train.
std::vector<Setting> padding_settings();
/// [pace] of simulate: how long things take.
std::vector<Setting> world_settings();
/// What goes wrong on purpose, in the same words for real and simulated runs.
std::vector<Setting> chaos_settings();

// engine_settings.cpp: of train.
std::vector<Setting> engine_settings();
std::vector<Setting> rank_settings();
/// Of members that come and go. Who and where a member is, is not part of what the run does.
std::vector<Setting> elastic_settings();
std::vector<Setting> membership_plan_settings();
std::vector<Setting> membership_settings();
/// How a run is shown is not part of what it does, so it is never written.
std::vector<Setting> watch_settings();

// compare_settings.cpp
/// Without a table: the step size of everybody, or of one.
std::vector<Setting> compared_step_settings();
std::vector<Setting> compare_settings();

// output_settings.cpp
std::vector<Setting> evaluation_settings();
std::vector<Setting> checkpoint_settings();  ///< of train
std::vector<Setting> output_settings();

}  // namespace dasgd::config
