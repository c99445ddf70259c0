// What holds for the directory of every run that has ended.
#pragma once

#include <string>
#include <vector>

#include "soak/scenario.hpp"

namespace dasgd::soak {

/// What is wrong with the files of a run; `interrupted`: it was ended by a signal, for good.
std::vector<std::string> look_at(const Scenario& scenario, const std::string& run,
                                 bool interrupted);

/// What is wrong with a simulation that was repeated.
std::vector<std::string> compare(const std::string& run, const std::string& again);

}  // namespace dasgd::soak
