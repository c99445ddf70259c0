#include "setting_kinds.hpp"

#include <fmt/format.h>

#include "dasgd/core/error.hpp"
#include "units.hpp"

namespace dasgd::app {

using Kind = Setting::Kind;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string list(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool parse_flag(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw InputError("\"" + text + "\" is neither true nor false");
}

Setting text(std::string key, std::string option, std::string placeholder, std::string help,
             std::string Config::*member) {
  return {key,
          option,
          Kind::value,
          placeholder,
          help,
          [member](Config& c, const std::string& v) { c.*member = v; },
          [member](const Config& c) {
            return (c.*member).empty() ? std::nullopt : std::optional(quoted(c.*member));
          }};
}

double positive(double value) {
  if (!(value > 0)) throw InputError(fmt::format("{} is not a positive number", value));
  return value;
}

Setting real(std::string key, std::string option, std::string help,
             std::optional<double> Config::*member, bool any_sign) {
  return {key,
          option,
          Kind::value,
          "X",
          help,
          [=](Config& c, const std::string& v) {
            c.*member = any_sign ? parse_real(v) : positive(parse_real(v));
          },
          [member](const Config& c) {
            return c.*member ? std::optional(show_real(*(c.*member))) : std::nullopt;
          }};
}

Setting count(std::string key, std::string option, std::string help,
              std::optional<std::size_t> Config::*member, std::size_t least) {
  return {key,
          option,
          Kind::value,
          "N",
          help,
          [=](Config& c, const std::string& v) {
            c.*member = parse_whole(v, most32);
            if (*(c.*member) < least) throw InputError(fmt::format("must be at least {}", least));
          },
          [member](const Config& c) {
            return c.*member ? std::optional(std::to_string(*(c.*member))) : std::nullopt;
          }};
}

Setting flag(std::string key, std::string option, std::string help, bool Config::*member) {
  return {key,
          option,
          Kind::flag,
          "",
          help,
          [member](Config& c, const std::string& v) { c.*member = parse_flag(v); },
          [member](const Config& c) {
            return std::optional<std::string>(c.*member ? "true" : "false");
          }};
}

}  // namespace dasgd::app
