// Settings that are one member of Config, by kind, and how values stand in a config file.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace dasgd::app {

inline constexpr std::uint64_t most32 = std::numeric_limits<std::uint32_t>::max() - 1;

/// A text in quotes, with escapes.
std::string quoted(const std::string& text);
/// Items in brackets.
std::string list(const std::vector<std::string>& items);

/// Throw InputError for anything else than true and false, or a positive number.
bool parse_flag(const std::string& text);
double positive(double value);

Setting text(std::string key, std::string option, std::string placeholder, std::string help,
             std::string Config::*member);
/// A positive number, unless any sign will do.
Setting real(std::string key, std::string option, std::string help,
             std::optional<double> Config::*member, bool any_sign = false);
Setting count(std::string key, std::string option, std::string help,
              std::optional<std::size_t> Config::*member, std::size_t least);
Setting flag(std::string key, std::string option, std::string help, bool Config::*member);

}  // namespace dasgd::app
