// A directory in memory for readers of several files.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace dasgd::fuzz {

/// Removed at the end of the program; a fuzzer that is killed leaves it behind.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no directory can be made");
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::string path_ = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/dasgd-fuzz-XXXXXX"
                                                                : "/tmp/dasgd-fuzz-XXXXXX";
};

}  // namespace dasgd::fuzz
