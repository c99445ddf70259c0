#include "dasgd/base/text_hazard.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace dasgd {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// How many characters the string that begins `text` has, quotes included; all if it does not end.
std::size_t string_length(std::string_view text) {
  const char quote = text[0];
  const bool lines = text.size() > 2 && text[1] == quote && text[2] == quote;  // TOML's """
  const std::string_view end = text.substr(0, lines ? 3 : 1);
  for (std::size_t at = end.size(); at < text.size(); ++at) {
    if (text[at] == '\n' && !lines) return at;  // the parser will report it
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text.substr(at).starts_with(end)) {
      return at + end.size();
    }
  }
  return text.size();
}

}  // namespace

std::optional<TextHazard> find_text_hazard(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::size_t line = 1, depth = 0, dots = 0;
  const auto nested = [&] {
    return TextHazard{line, fmt::format("is nested more than {} deep", most_nesting)};
  };
  const auto stray = [&](const char* where) {
    return TextHazard{line, fmt::format("has a character beyond ASCII {}", where)};
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::string_view string = text.substr(at, string_length(text.substr(at)));
      // In these the parser looks for space at the beginning of lines.
      if (string.starts_with("\"\"\"") && !std::ranges::all_of(string, is_ascii))
        return stray("in a string of several lines");
      line += static_cast<std::size_t>(std::ranges::count(string, '\n'));
      at += string.size() - 1;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    }
    if (!is_ascii(c)) return stray("outside of quotes");
    if (c == '.') {
      if (++dots > most_nesting) return nested();
      continue;
    }
    if (c == '[' || c == '{') {
      if (++depth > most_nesting) return nested();
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == '\n') {
      ++line;
    } else if (c != '=' && c != ',') {
      continue;
    }
    dots = 0;
  }
  return std::nullopt;
}

}  // namespace dasgd
