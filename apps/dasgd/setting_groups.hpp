// Groups of settings that have a file of their own.
#pragma once

#include <vector>

#include "settings.hpp"

namespace dasgd::app {

/// The engine of train: threads or ranks.
std::vector<Setting> engine_settings();
/// Of train: rows that arrive.
std::vector<Setting> stream_settings();
/// [ranks]: of train under MPI.
std::vector<Setting> rank_settings();
/// [pace] of simulate: how long things take.
std::vector<Setting> world_settings();
/// [chaos]: what goes wrong on purpose, in the same words for real and simulated runs.
std::vector<Setting> chaos_settings();
/// [watch]: of train; how a run is looked at is not part of what it does, so it is never written.
std::vector<Setting> watch_settings();
/// [rule]: the update rule.
std::vector<Setting> rule_settings();
/// [evaluation]: on held-out data during the run.
std::vector<Setting> evaluation_settings();
/// [checkpoint]: of train only.
std::vector<Setting> checkpoint_settings();

}  // namespace dasgd::app
