// A whole file as text.
#pragma once

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace dasgd {

/// Its bytes as they are; nothing where it cannot be opened.
inline std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The same; empty where it cannot be opened.
inline std::string text_of_file(const std::string& path) { return read_text(path).value_or(""); }

}  // namespace dasgd
