#include "dasgd/base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "dasgd/base/input_error.hpp"

namespace dasgd {
namespace {

constexpr std::array<std::pair<const char*, std::int64_t>, 6> units{{{"h", 3'600'000'000'000},
                                                                     {"min", 60'000'000'000},
                                                                     {"s", 1'000'000'000},
                                                                     {"ms", 1'000'000},
                                                                     {"us", 1'000},
                                                                     {"ns", 1}}};

constexpr std::array<std::pair<const char*, double>, 9> rates{{{"Gbit", 1e9 / 8},
                                                               {"Mbit", 1e6 / 8},
                                                               {"kbit", 1e3 / 8},
                                                               {"bit", 1.0 / 8},
                                                               {"GB", 1e9},
                                                               {"MB", 1e6},
                                                               {"kB", 1e3},
                                                               {"B", 1},
                                                               {"", 1}}};

}  // namespace

double parse_rate(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(error == std::errc{} ? end : text.data(), text.data() + text.size());
  if (unit.ends_with("/s")) unit.resize(unit.size() - 2);
  for (const auto& [name, bytes] : rates)
    if (error == std::errc{} && unit == name && value > 0 && std::isfinite(value * bytes))
      return value * bytes;
  throw InputError(
      "\"" + text +
      "\" is not a rate; write it like 1Gbit, 100Mbit, 12.5MB, or in bytes per second");
}

std::string show_rate(double bytes_per_second) {
  const double bits = 8 * bytes_per_second;
  for (const auto& [name, bytes] : rates)
    if (8 * bytes <= bits) return fmt::format("{:.4g} {}/s", bits / (8 * bytes), name);
  return fmt::format("{:.4g} bit/s", bits);
}

std::chrono::nanoseconds parse_duration(const std::string& text) {
  const auto refuse = [&]() -> std::chrono::nanoseconds {
    throw InputError("\"" + text + "\" is not a time; write it like 50ms, 5us or 1.5s");
  };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return refuse();
  const std::string unit(end, text.data() + text.size());
  if (value == 0 && unit.empty()) return std::chrono::nanoseconds(0);
  for (const auto& [name, length] : units) {
    if (unit != name) continue;
    const double nanoseconds = std::round(value * static_cast<double>(length));
    if (nanoseconds > 9e18) return refuse();
    return std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
  }
  return refuse();
}

std::string show_duration(std::chrono::nanoseconds time) {
  for (const auto& [name, length] : units)
    if (time.count() != 0 && time.count() % length == 0)
      return fmt::format("{}{}", time.count() / length, name);
  return "0s";
}

double parse_real(const std::string& text) {
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    throw InputError("\"" + text + "\" is not a number");
  return value;
}

std::string show_real(double value) { return fmt::format("{}", value); }

std::uint64_t parse_whole(const std::string& text, std::uint64_t limit) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > limit)
    throw InputError(fmt::format("\"{}\" is not a whole number from 0 to {}", text, limit));
  return value;
}

double parse_many(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(error == std::errc{} ? end : text.data(), text.data() + text.size());
  constexpr std::array<std::pair<const char*, double>, 4> names{
      {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}};
  for (const auto& [name, times] : names)
    if (error == std::errc{} && unit == name && value * times >= 1 && value * times <= 1e15)
      return std::round(value * times);
  throw InputError("\"" + text + "\" is not a number like 93322, 93k, 11M or 1.5G");
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string show_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string counted(std::uint64_t count, const std::string& what) {
  return show_count(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace dasgd
