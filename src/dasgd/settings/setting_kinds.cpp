#include "dasgd/settings/setting_kinds.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <system_error>

#include "dasgd/base/utf8.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::config {

std::string quoted(const std::string& text) {
  if (!is_utf8(text)) throw InputError("\"" + printable(text) + "\" is not UTF-8 text");
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string printable(const std::string& text) {
  std::string result = text;
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return result;
}

std::string from_anywhere(const std::string& text) {
  std::string_view form;
  for (const std::string_view known : {"file:", "replay:", "follow:"})
    if (text.starts_with(known)) form = known;
  std::error_code unknown;
  const std::string path =
      std::filesystem::absolute(text.substr(form.size()), unknown).lexically_normal().string();
  return unknown || !is_utf8(path) ? text : std::string(form) + path;
}

std::string file_from_anywhere(const std::string& text) {
  if (const std::size_t at = text.find(".npy,"); at != text.npos && text.ends_with(".npy"))
    return from_anywhere(text.substr(0, at + 4)) + "," + from_anywhere(text.substr(at + 5));
  std::error_code unknown;
  return std::filesystem::exists(text, unknown) ? from_anywhere(text) : text;
}

std::string place_from_anywhere(const std::string& text) {
  const bool is_place = text.starts_with("file:") || text.starts_with("replay:");
  return is_place ? from_anywhere(text) : text;
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

std::chrono::nanoseconds parse_timeout(const std::string& text) {
  const auto timeout = parse_duration(text);
  if (timeout < std::chrono::seconds(2)) throw InputError("must be at least 2s");
  return timeout;
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
