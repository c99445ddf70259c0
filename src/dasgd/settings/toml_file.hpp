// Config files in TOML: one key per setting, in sections.
#pragma once

#include <set>
#include <string>

#include "dasgd/config/config.hpp"
#include "dasgd/settings/settings.hpp"

namespace dasgd::config {

/// Sets everything that the file says, except the keys in `overridden`. Throws InputError with the
/// file, and the line or key, for anything that is not right.
void read_config_file(Command command, const std::string& path,
                      const std::set<std::string>& overridden, Config& config);

/// The same for a text that is not a file; `name` stands for it in messages.
void read_config_text(Command command, const std::string& text, const std::string& name,
                      const std::set<std::string>& overridden, Config& config);

/// The same for a run that goes on: the file is that of its directory, which becomes the directory
/// of the run. Throws InputError, also where another `file` was given.
void read_resumed_config(const std::string& file, const std::set<std::string>& overridden,
                         Config& config);

/// The config as a file that reads back as the same config.
std::string to_toml(Command command, const Config& config);

}  // namespace dasgd::config
