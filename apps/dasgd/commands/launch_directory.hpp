// Where the processes of a launch meet.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "dasgd/core/error.hpp"

namespace dasgd::app {

/// The directory of a launch, which goes with it unless somebody has asked for it.
class LaunchDirectory {
 public:
  explicit LaunchDirectory(const std::string& asked = {}) : keep_(!asked.empty()) {
    namespace fs = std::filesystem;
    if (keep_) {
      fs::create_directories(asked);
      path_ = fs::absolute(asked);
      if (fs::exists(path_ / "worker-0"))
        throw InputError(asked + ": has the members of another launch; choose another directory");
    } else {
      std::string name = fs::temp_directory_path() / "dasgd-launch-XXXXXX";
      if (!::mkdtemp(name.data())) throw std::runtime_error("no directory in /tmp can be made");
      path_ = name;
    }
  }
  ~LaunchDirectory() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  LaunchDirectory(const LaunchDirectory&) = delete;
  LaunchDirectory& operator=(const LaunchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  const bool keep_;
  std::filesystem::path path_;
};

}  // namespace dasgd::app
