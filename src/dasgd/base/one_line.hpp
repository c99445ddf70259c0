// What others wrote, fit for a message.
#pragma once

#include <string>
#include <string_view>

namespace dasgd {

/// The text with its control characters as they are written in programs: a name with a line break
/// in it does not make two lines of a message, and nothing in it reaches a terminal as a command.
inline std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code != 0x7f)
      line += c;
    else if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else
      line += {'\\', 'x', "0123456789abcdef"[code / 16], "0123456789abcdef"[code % 16]};
  }
  return line;
}

}  // namespace dasgd
