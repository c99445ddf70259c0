// Every setting once: its key in the config file, its option, its help, how it is read and written.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/config/config.hpp"

namespace dasgd::config {

struct Setting {
  enum class Kind {
    value,
    repeatable,  ///< may be given several times; a list in the file
    flag,
    optional_value,  ///< may stand alone; it is then set to ""
  };
  std::string key;     ///< "topology.kind"
  std::string option;  ///< "--topology"
  Kind kind = Kind::value;
  std::string placeholder;  ///< "N", for help
  std::string help;
  /// Reads one value. Throws InputError that says what is wrong with it.
  std::function<void(Config&, const std::string&)> set;
  /// The value as it stands in a config file, with quotes or brackets; nothing if it is not set.
  std::function<std::optional<std::string>(const Config&)> show;
  bool in_files = true;  ///< false: an option that no config file has
};

enum class Command { train, simulate, advise, compare };

/// In the order of help and of the written file. Commands have most settings in common.
const std::vector<Setting>& settings(Command command);
/// Nothing if the command has no setting of that key.
const Setting* find_setting(Command command, const std::string& key);

/// What a run is about, its model and its data: the same from every directory.
std::map<std::string, std::string> subject_of(const Config& config);

/// A message in which settings and other arguments stand as `key`, with their options instead: for
/// a command line.
std::string with_options(const std::string& message);

}  // namespace dasgd::config
