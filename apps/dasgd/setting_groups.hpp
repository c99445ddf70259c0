// Groups of settings that have a file of their own.
#pragma once

#include <vector>

#include "settings.hpp"

namespace dasgd::app {

/// [rule]: the update rule.
std::vector<Setting> rule_settings();
/// [evaluation]: on held-out data during the run.
std::vector<Setting> evaluation_settings();
/// [checkpoint]: of train only.
std::vector<Setting> checkpoint_settings();

}  // namespace dasgd::app
