// Where a run leaves its files (docs/run_directory.md).
#pragma once

#include <string>

namespace dasgd::app {

/// A directory that holds one run. Files of an earlier run under the same name are removed first,
/// so that a directory never mixes two runs.
class RunDirectory {
 public:
  /// Creates `path`, or runs/MODEL-TIME when it is empty. Throws InputError when it cannot be used.
  RunDirectory(const std::string& path, const std::string& model);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace dasgd::app
