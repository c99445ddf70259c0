// A run's settings as they were given: on the command line, on top of a config file.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/config/config.hpp"
#include "dasgd/settings/settings.hpp"

namespace dasgd::app {

using config::Command;
using config::Config;
using config::Setting;

struct RunArguments {
  const Command command;
  std::string config_file = {};
  std::vector<std::pair<const Setting*, std::string>> given = {};
  std::string from = {};  ///< of simulate: the recorded run that it predicts

  /// Every setting of the command as an option. `this` must outlive the parsing.
  void add_to(CLI::App& app);
  /// Whether one of these options was given.
  bool gave(const std::set<std::string>& options) const;
  Config resolved() const;
};

}  // namespace dasgd::app
