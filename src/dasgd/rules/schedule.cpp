#include "dasgd/rules/schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& text, const char* form) {
  throw InputError("\"" + text + "\" is not a schedule of the form " + form);
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

// The shortest text that reads back as the same number.
std::string show(double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace

double Schedule::factor(double clock) const {
  const double warm = warmup > 0 ? std::min(1.0, (clock + 1) / warmup) : 1.0;
  if (kind == Kind::step) return warm * std::pow(by, std::floor(clock / every));
  if (kind == Kind::cosine && total) {
    const double done = std::min(1.0, clock / *total);
    return warm * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * done)));
  }
  if (kind == Kind::cooldown && total)
    return warm * std::clamp((1 - clock / *total) / share, 0.0, 1.0);
  return warm;
}

void set_schedule(Schedule& schedule, const std::string& text) {
  static const std::vector<std::string> names{"constant", "step", "cosine", "cooldown"};
  const auto parts = split(text);
  Schedule read;
  read.warmup = schedule.warmup;
  if (parts[0] == "constant") {
    if (parts.size() != 1) refuse(text, "constant");
  } else if (parts[0] == "step") {
    constexpr auto form = "step:EVERY:FACTOR, like step:1000:0.5";
    if (parts.size() != 3) refuse(text, form);
    const auto every = number(parts[1]), by = number(parts[2]);
    if (!every || !(*every > 0) || !by || !(*by > 0 && *by <= 1)) refuse(text, form);
    read.kind = Schedule::Kind::step;
    read.every = *every;
    read.by = *by;
  } else if (parts[0] == "cosine" || parts[0] == "cooldown") {
    const bool cosine = parts[0] == "cosine";
    const char* const form =
        cosine ? "cosine[:TOTAL[:FLOOR]], like cosine:5000 or cosine:5000:0.01"
               : "cooldown[:TOTAL[:SHARE]], like cooldown:5000 or cooldown:5000:0.3";
    read.kind = cosine ? Schedule::Kind::cosine : Schedule::Kind::cooldown;
    if (parts.size() > 3) refuse(text, form);
    if (parts.size() > 1) {
      read.total = number(parts[1]);
      if (!read.total || !(*read.total > 0)) refuse(text, form);
    }
    if (parts.size() > 2) {
      const auto last = number(parts[2]);
      if (!last || !(*last >= 0 && *last <= 1) || (!cosine && *last == 0)) refuse(text, form);
      (cosine ? read.floor : read.share) = *last;
    }
  } else {
    throw InputError("unknown schedule \"" + parts[0] + "\"" + suggestion(parts[0], names));
  }
  schedule = read;
}

std::string to_string(const Schedule& s) {
  if (s.kind == Schedule::Kind::step) return "step:" + show(s.every) + ":" + show(s.by);
  if (s.kind == Schedule::Kind::constant) return "constant";
  const bool cosine = s.kind == Schedule::Kind::cosine;
  std::string text = cosine ? "cosine" : "cooldown";
  if (s.total) text += ":" + show(*s.total);
  if (s.total && cosine && s.floor > 0) text += ":" + show(s.floor);
  if (s.total && !cosine && s.share != Schedule::default_share) text += ":" + show(s.share);
  return text;
}

}  // namespace dasgd
