// Settings that are one place in Config, by how their value is read and written.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/base/units.hpp"
#include "dasgd/settings/settings.hpp"

namespace dasgd::config {

inline constexpr std::uint64_t most32 = std::numeric_limits<std::uint32_t>::max() - 1;

/// A text in quotes, with escapes. Throws InputError for what no TOML file can hold.
std::string quoted(const std::string& text);
/// For messages: what does not print is `?`.
std::string printable(const std::string& text);
/// A path, bare or behind `file:`, `replay:` or `follow:`, as it works from every directory.
std::string from_anywhere(const std::string& text);
/// The same for a file, or two as X.npy,y.npy; what is not there stays as it is.
std::string file_from_anywhere(const std::string& text);
/// The same for texts that are something else without such a word.
std::string place_from_anywhere(const std::string& text);
/// Items in brackets, each in quotes.
std::string list(const std::vector<std::string>& items);

/// Throw InputError for anything else than true and false, a positive number, a number that is not
/// negative, or a whole number of at least `least`.
bool parse_flag(const std::string& text);
double parse_positive(const std::string& text);
double parse_not_negative(const std::string& text);
std::uint64_t parse_count(const std::string& text, std::size_t least);
/// A duration of at least two seconds, after which a silent process is no longer awaited.
std::chrono::nanoseconds parse_timeout(const std::string& text);

/// What a setting is called and what --help says of it.
struct SettingName {
  std::string key, option, placeholder, help;
};

/// The place in a config to which these members lead, one after the other.
template <typename... Members>
auto field(Members... members) {
  return [=](auto& config) -> auto& { return (config.*....*members); };
}

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// The general kind. `at` gives the place in a config, const or not; what is not set, or shown as
/// nothing, does not stand in the file.
template <typename Place, typename Read, typename Show>
Setting place(SettingName name, Place at, Read read, Show show) {
  return {name.key,
          name.option,
          Setting::Kind::value,
          name.placeholder,
          name.help,
          [=](Config& c, const std::string& text) { at(c) = read(text); },
          [=](const Config& c) -> std::optional<std::string> {
            const auto& value = at(c);
            if constexpr (IsOptional<std::remove_cvref_t<decltype(value)>>::value) {
              return value ? std::optional<std::string>(show(*value)) : std::nullopt;
            } else {
              return show(value);
            }
          }};
}

/// A positive number.
template <typename Place>
Setting real(std::string key, std::string option, std::string help, Place at) {
  return place({key, option, "X", help}, at, parse_positive, show_real);
}
/// A whole number.
template <typename Place>
Setting count(std::string key, std::string option, std::string help, Place at, std::size_t least) {
  using Number = typename std::remove_cvref_t<decltype(at(std::declval<Config&>()))>::value_type;
  return place(
      {key, option, "N", help}, at,
      [=](const std::string& v) { return static_cast<Number>(parse_count(v, least)); },
      [](auto n) { return std::to_string(n); });
}
template <typename Place>
Setting duration(std::string key, std::string option, std::string help, Place at) {
  return place({key, option, "T", help}, at, parse_duration,
               [](auto time) { return quoted(show_duration(time)); });
}
/// One of several things that have names: there are `read` and to_string.
template <typename Place, typename Read>
Setting named(SettingName name, Place at, Read read) {
  return place(std::move(name), at, read, [](const auto& v) { return quoted(to_string(v)); });
}
template <typename Place>
Setting text(SettingName name, Place at) {
  return place(
      std::move(name), at, [](const std::string& v) { return v; },
      [](const std::string& v) { return v.empty() ? std::nullopt : std::optional(quoted(v)); });
}
template <typename Place>
Setting flag(std::string key, std::string option, std::string help, Place at) {
  Setting setting = place({key, option, "", help}, at, parse_flag,
                          [](bool v) { return std::string(v ? "true" : "false"); });
  setting.kind = Setting::Kind::flag;
  return setting;
}
/// One that may be given several times: `at` gives a vector, `show` the text of one item.
template <typename Place, typename Read, typename Show>
Setting repeatable(SettingName name, Place at, Read read, Show show) {
  return {name.key,
          name.option,
          Setting::Kind::repeatable,
          name.placeholder,
          name.help,
          [=](Config& c, const std::string& text) { at(c).push_back(read(text)); },
          [=](const Config& c) -> std::optional<std::string> {
            if (at(c).empty()) return std::nullopt;
            std::vector<std::string> items;
            for (const auto& item : at(c)) items.push_back(show(item));
            return list(items);
          }};
}

/// The same setting, which stands in a written file only where it is not the default.
template <typename Place>
Setting unless_default(Setting setting, Place at) {
  const auto show = setting.show;
  setting.show = [show, at](const Config& c) {
    const Config defaults;
    return at(c) == at(defaults) ? std::nullopt : show(c);
  };
  return setting;
}
/// The same setting, which no written config file has.
Setting not_written(Setting setting);

}  // namespace dasgd::config
