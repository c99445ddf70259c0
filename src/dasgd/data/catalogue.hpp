// Data sets by name: where they are and how to get them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dasgd {

/// A data set that dasgd knows by name.
struct KnownDataSet {
  std::string name;
  std::string description;
  std::string models;          ///< which models read it
  std::string debian_package;  ///< the package that installs it; empty: dasgd fetches it
  std::string installed_at;    ///< where the package or dasgd puts it
};

/// Where dasgd puts what it fetches: $DASGD_DATA, else $XDG_CACHE_HOME/dasgd, else ~/.cache/dasgd.
std::string data_home();

const std::vector<KnownDataSet>& known_data_sets();

/// A path as it is, or NAME inside $DASGD_DATA; nothing where neither is there.
std::optional<std::string> find_data(const std::string& name_or_path);

/// The directory or file of `name_or_path`: a path as it is; otherwise NAME inside $DASGD_DATA or
/// where its package puts it. Throws InputError that says how to get it, and for a device.
std::string locate_data(const std::string& name_or_path);

/// Where a known data set is on this machine, if it is.
std::optional<std::string> find_installed(const KnownDataSet& set);

}  // namespace dasgd
