// The commands that have settings, for tests of all of them.
#pragma once

#include <array>
#include <gtest/gtest.h>
#include <string>

#include "dasgd/settings/settings.hpp"

namespace dasgd::test {

inline constexpr std::array all_commands{config::Command::train, config::Command::simulate,
                                         config::Command::advise};

inline std::string name_of_command(const ::testing::TestParamInfo<config::Command>& info) {
  return info.param == config::Command::train      ? "Train"
         : info.param == config::Command::simulate ? "Simulate"
                                                   : "Advise";
}

}  // namespace dasgd::test
