#include "dasgd/settings/tasks/variation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::config {
namespace {

constexpr std::size_t most_values = 10'000;

// How a run is kept and shown does not change what it does, so there is nothing to vary.
bool can_vary(const Setting& setting) {
  return setting.in_files && !setting.key.starts_with("output.") &&
         !setting.key.starts_with("watch.") && setting.key != "engine";
}

std::string name_of(Command command) { return command == Command::simulate ? "simulate" : "train"; }

const Setting& find_varied(Command command, const std::string& key) {
  if (const Setting* setting = find_setting(command, key); setting && can_vary(*setting))
    return *setting;
  std::vector<std::string> keys;
  for (const Setting& setting : settings(command)) {
    if (can_vary(setting)) keys.push_back(setting.key);
    if (setting.option == "--" + key && can_vary(setting))
      throw InputError(fmt::format("unknown key \"{}\"; did you mean \"{}\"?", key, setting.key));
  }
  if (const Setting* other = find_setting(Command::advise, key); other && can_vary(*other))
    throw InputError(
        fmt::format("{} is not a key of {}, which this sweep runs", key, name_of(command)));
  const std::string nearest = nearest_word(key, keys);
  throw InputError(fmt::format(
      "unknown key \"{}\"; {}", key,
      nearest.empty() ? "dasgd " + name_of(command) + " --help shows the key of every option"
                      : "did you mean \"" + nearest + "\"?"));
}

struct Quantity {
  double number;
  std::string unit;
};

Quantity parse_quantity(const std::string& text) {
  // An e belongs to the number where digits follow it.
  std::size_t end = 0;
  try {
    std::ignore = std::stod(text, &end);
  } catch (const std::exception&) {
    throw InputError("\"" + text + "\" is not a number");
  }
  return {parse_real(text.substr(0, end)), text.substr(end)};
}

/// "a..b:log:n". A list may have dots as well: of paths.
class Steps {
 public:
  static bool fits(const std::string& text) {
    return text.find("..") != std::string::npos && text.find_first_of(",;/") == std::string::npos;
  }

  explicit Steps(const std::string& text) {
    const auto parts = split(text, ':');
    const std::size_t dots = parts[0].find("..");
    if (parts.size() != 3 || dots == std::string::npos || (parts[1] != "log" && parts[1] != "lin"))
      throw InputError("\"" + text + "\" is not of the form a..b:log:n or a..b:lin:n");
    from_ = parse_quantity(parts[0].substr(0, dots));
    to_ = parse_quantity(parts[0].substr(dots + 2));
    logarithmic_ = parts[1] == "log";
    count_ = parse_whole(parts[2], most_values);
    if (from_.unit != to_.unit)
      throw InputError("\"" + parts[0] + "\": write both ends in the same unit");
    if (count_ < 2) throw InputError("\"" + text + "\": a range needs at least 2 values");
    if (logarithmic_ && !(from_.number > 0 && to_.number > 0))
      throw InputError("\"" + text + "\": both ends of a logarithmic range must be positive");
  }

  std::vector<std::string> values(bool whole) const {
    std::vector<std::string> result;
    for (std::size_t k = 0; k < count_; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(count_ - 1);
      const double a = from_.number, b = to_.number;
      const double value = k + 1 == count_ ? b
                           : logarithmic_  ? a * std::pow(b / a, share)
                                           : a + (b - a) * share;
      result.push_back(fmt::format("{:.12g}{}", whole ? std::round(value) : value, from_.unit));
    }
    return result;
  }

 private:
  Quantity from_, to_;
  bool logarithmic_ = false;
  std::size_t count_ = 0;
};

void require_readable(const Setting& setting, const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    Config scratch;
    try {
      setting.set(scratch, value);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{} = {}: {}", setting.key, value, error.what()));
    }
  }
}

bool are_readable(const Setting& setting, const std::vector<std::string>& values) {
  try {
    require_readable(setting, values);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// 0.10 is 0.1.
std::string plain(const std::string& value) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? fmt::format("{}", number) : value;
}

std::vector<std::string> values_of(const Setting& setting, const std::string& spec) {
  if (!Steps::fits(spec)) return split(spec, spec.find(';') == std::string::npos ? ',' : ';');
  const Steps steps(spec);
  const auto exact = steps.values(false), whole = steps.values(true);
  return are_readable(setting, exact) || !are_readable(setting, whole) ? exact : whole;
}

}  // namespace

Variation parse_variation(Command command, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError("`vary` " + text + ": write KEY=a,b,c or KEY=a..b:log:n");
  try {
    const Setting& setting = find_varied(command, text.substr(0, equals));
    Variation variation{setting.key, values_of(setting, text.substr(equals + 1))};
    require_readable(setting, variation.values);
    std::set<std::string> taken;
    for (const std::string& value : variation.values)
      if (!taken.insert(plain(value)).second)
        throw InputError(fmt::format("{} = {} is given twice", setting.key, value));
    return variation;
  } catch (const InputError& error) {
    throw InputError(fmt::format("`vary` {}: {}", text, error.what()));
  }
}

namespace {

// Of several keys each may also be called as its option is.
const Setting& find_by_key_or_option(Command command, const std::string& name) {
  if (!find_setting(command, name))
    for (const Setting& setting : settings(command))
      if (setting.option == "--" + name && can_vary(setting)) return setting;
  return find_varied(command, name);
}

}  // namespace

std::vector<Variation> parse_variations(Command command, const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto keys = split(text.substr(0, std::min(equals, text.size())), '+');
  if (keys.size() < 2 || equals == std::string::npos) return {parse_variation(command, text)};
  try {
    const std::string spec = text.substr(equals + 1);
    const auto together = split(spec, spec.find(';') == std::string::npos ? ',' : ';');
    if (std::set<std::string>(keys.begin(), keys.end()).size() < keys.size())
      throw InputError("a key is given twice");
    if (std::set<std::string>(together.begin(), together.end()).size() < together.size())
      throw InputError("the same values are given twice");
    std::vector<Variation> all;
    for (const std::string& key : keys)
      all.push_back({find_by_key_or_option(command, key).key, {}});
    for (const std::string& item : together) {
      const auto values = split(item, '+');
      if (values.size() != keys.size())
        throw InputError(fmt::format("\"{}\" has {} values for {} keys; write A+B,C+D", item,
                                     values.size(), keys.size()));
      for (std::size_t k = 0; k < keys.size(); ++k) all[k].values.push_back(values[k]);
    }
    for (const Variation& one : all) require_readable(find_varied(command, one.key), one.values);
    return all;
  } catch (const InputError& error) {
    throw InputError(fmt::format("`vary` {}: {}", text, error.what()));
  }
}

}  // namespace dasgd::config
