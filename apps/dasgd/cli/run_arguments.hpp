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

using SettingFilter = bool (*)(const Setting&);

/// Those that the help lists apart.
struct SettingGroup {
  SettingFilter holds = nullptr;
  const char* title = "";
};

struct RunArguments {
  const Command command;
  std::string config_file = {};
  std::vector<std::pair<const Setting*, std::string>> given = {};
  std::string from = {};  ///< of simulate: the recorded run that it predicts

  /// Every setting of the command as an option, but for some. `this` must outlive the parsing.
  void add_to(CLI::App& app, SettingFilter leave_out = nullptr, const SettingGroup& apart = {});
  /// Whether one of these options was given.
  bool gave(const std::set<std::string>& options) const;
  /// The same arguments for a run of a sweep, with these keys set as well. Throws InputError for
  /// settings that the command of the run does not have.
  RunArguments for_run(Command run,
                       const std::vector<std::pair<std::string, std::string>>& values) const;
  Config resolved() const;
};

/// What advice has no use for, but the config of a run that it reads may say.
bool of_no_use_for_advice(const Setting& setting);
/// What a sweep decides for its runs, or does not have.
bool of_no_use_for_sweeps(const Setting& setting);
/// What rows of a comparison have in their names. All rows together have the default, which may be
/// given to override the config of a run.
bool belongs_to_rows(const Setting& setting);

}  // namespace dasgd::app
