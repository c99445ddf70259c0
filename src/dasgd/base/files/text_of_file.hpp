// A whole file as text.
#pragma once

#include <iterator>
#include <optional>
#include <string>

#include "dasgd/base/files/open_file.hpp"

namespace dasgd {

/// Its bytes as they are; nothing where it cannot be opened. Throws InputError for a directory.
inline std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file = open_file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The same; empty where it cannot be opened.
inline std::string text_of_file(const std::string& path) { return read_text(path).value_or(""); }

}  // namespace dasgd
