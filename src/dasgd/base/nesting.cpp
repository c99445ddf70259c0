#include "dasgd/base/nesting.hpp"

#include <algorithm>

namespace dasgd {
namespace {

// How many characters the string that begins `text` has, quotes included; all if it does not end.
std::size_t string_length(std::string_view text) {
  const char quote = text[0];
  const bool lines = text.size() > 2 && text[1] == quote && text[2] == quote;  // TOML's """
  const std::string_view end = text.substr(0, lines ? 3 : 1);
  for (std::size_t at = end.size(); at < text.size(); ++at) {
    if (text[at] == '\n' && !lines) return at;  // the parser will tell
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text.substr(at).starts_with(end)) {
      return at + end.size();
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> line_nested_too_deep(std::string_view text, std::size_t most) {
  std::size_t line = 1, depth = 0, dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::string_view string = text.substr(at, string_length(text.substr(at)));
      line += static_cast<std::size_t>(std::ranges::count(string, '\n'));
      at += string.size() - 1;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    }
    if (c == '.') {
      if (++dots > most) return line;
      continue;
    }
    if (c == '[' || c == '{') {
      if (++depth > most) return line;
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
