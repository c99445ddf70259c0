// Whether the files that settings name are still what they were.
#pragma once

#include <map>
#include <span>
#include <string>

namespace dasgd::config {

/// A digest of what each file holds that these settings (texts in TOML) name; of a directory, of
/// the files in it that data are read from. By the name as it stands there.
std::map<std::string, std::string> digests_of_named_files(std::span<const std::string> settings);

}  // namespace dasgd::config
