// Files of finished runs, so that an interrupted experiment continues.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dasgd {

/// Writes a cell, which has its setting under "setting". The file name is `stem` and a few digits
/// of the setting, so that runs with other settings stay beside it.
void keep_cell(const std::string& stem, const nlohmann::ordered_json& cell);

/// The cell with this setting, also under the older name, which was `stem` alone; null if there is
/// none or it is broken.
nlohmann::ordered_json find_cell(const std::string& stem, const std::string& setting);

}  // namespace dasgd
