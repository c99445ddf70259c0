// Files to read.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "dasgd/base/input_error.hpp"

namespace dasgd {

/// Opens a file; who reads it looks whether that went well. Throws InputError for a directory,
/// which can be opened and fails only when it is read.
inline std::ifstream open_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw InputError(path + ": is a directory, not a file");
  return std::ifstream(path, std::ios::binary);
}

}  // namespace dasgd
