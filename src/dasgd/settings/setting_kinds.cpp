#include "dasgd/settings/setting_kinds.hpp"

#include <fmt/format.h>

#include "dasgd/core/error.hpp"

namespace dasgd::config {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + '"';
}

std::string list(const std::vector<std::string>& items) {
  std::vector<std::string> in_quotes;
  for (const std::string& item : items) in_quotes.push_back(quoted(item));
  return fmt::format("[{}]", fmt::join(in_quotes, ", "));
}

bool parse_flag(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw InputError("\"" + text + "\" is neither true nor false");
}

double parse_positive(const std::string& text) {
  const double value = parse_real(text);
  if (!(value > 0)) throw InputError(fmt::format("{} is not a positive number", value));
  return value;
}

double parse_not_negative(const std::string& text) {
  const double value = parse_real(text);
  if (value < 0) throw InputError("must not be negative");
  return value;
}

std::uint64_t parse_count(const std::string& text, std::size_t least) {
  const std::uint64_t value = parse_whole(text, most32);
  if (value < least) throw InputError(fmt::format("must be at least {}", least));
  return value;
}

Setting not_written(Setting setting) {
  setting.show = [](const Config&) { return std::nullopt; };
  return setting;
}

}  // namespace dasgd::config
