#include "dasgd/data/column_encoding.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

using Kind = ColumnEncoding::Kind;
using Words = std::vector<std::string>;

const Words kind_words{"number", "boolean", "date", "category", "left out"};
const Words form_words{"year-month-day", "day-month-year", "month-day-year"};
const Words date_names{"days",     "year_sine", "year_cosine", "monday",
                       "tuesday",  "wednesday", "thursday",    "friday",
                       "saturday", "sunday",    "time_sine",   "time_cosine"};
constexpr std::size_t date_width = 10, week_at = 3, week = 7, with_time = 12;
constexpr int saturday = 5;  // 2000-01-01, where days begin

std::uint64_t fnv_1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void expand_date(double days, bool time, std::span<float> to) {
  constexpr double turn = 2 * std::numbers::pi, days_per_year = 365.2425;
  const double whole = std::floor(days);
  std::fill(to.begin(), to.end(), 0.0f);
  to[0] = static_cast<float>(days);
  to[1] = static_cast<float>(std::sin(turn * days / days_per_year));
  to[2] = static_cast<float>(std::cos(turn * days / days_per_year));
  const auto weekday = static_cast<std::size_t>(std::fmod(whole + saturday, 7) + 7) % week;
  to[week_at + weekday] = 1;
  if (!time) return;
  to[date_width] = static_cast<float>(std::sin(turn * (days - whole)));
  to[date_width + 1] = static_cast<float>(std::cos(turn * (days - whole)));
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::size_t place_in(const Words& words, const std::string& word) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) throw InputError("an encoding \"" + word + "\" that is not known");
  return static_cast<std::size_t>(at - words.begin());
}

}  // namespace

std::size_t ColumnEncoding::width() const {
  switch (kind) {
    case Kind::number:
    case Kind::boolean:
      return 1;
    case Kind::date:
      return time ? with_time : date_width;
    case Kind::category:
      return values.size() + hashed;
    case Kind::left_out:
      break;
  }
  return 0;
}

std::vector<std::string> ColumnEncoding::input_names() const {
  if (kind == Kind::number || kind == Kind::boolean) return {column};
  std::vector<std::string> names;
  if (kind == Kind::date)
    for (std::size_t k = 0; k < width(); ++k) names.push_back(column + "." + date_names[k]);
  if (kind == Kind::category) {
    for (const std::string& value : values)
      names.push_back(column + "=" + (value.empty() ? "(missing)" : value));
    for (std::size_t k = 0; k < hashed; ++k) names.push_back(column + "#" + std::to_string(k));
  }
  return names;
}

bool ColumnEncoding::is_indicator(std::size_t k) const {
  return kind == Kind::category || (kind == Kind::date && k >= week_at && k < week_at + week);
}

int ColumnEncoding::place_of(std::string_view text) const {
  if (text.empty() && fill_most_frequent) return values.empty() ? -1 : 0;
  const auto at = std::find(values.begin(), values.end(), text);
  if (at != values.end()) return static_cast<int>(at - values.begin());
  if (text.empty() || hashed == 0) return -1;
  return static_cast<int>(values.size() + fnv_1a(text) % hashed);
}

void ColumnEncoding::expand(float kept, std::span<float> to) const {
  switch (kind) {
    case Kind::number:
    case Kind::boolean:
      to[0] = kept;
      return;
    case Kind::date:
      if (std::isnan(kept))
        std::fill(to.begin(), to.end(), std::numeric_limits<float>::quiet_NaN());
      else
        expand_date(static_cast<double>(kept), time, to);
      return;
    case Kind::category:
      std::fill(to.begin(), to.end(), 0.0f);
      if (kept >= 0) to[static_cast<std::size_t>(kept)] = 1;
      return;
    case Kind::left_out:
      return;
  }
}

std::string ColumnEncoding::shown(std::span<const float> inputs) const {
  if (kind == Kind::left_out || inputs.empty() || std::isnan(inputs[0])) return "?";
  if (kind == Kind::number) return short_number(static_cast<double>(inputs[0]));
  if (kind == Kind::boolean) return inputs[0] > 0 ? "yes" : "no";
  if (kind == Kind::date) {
    const std::chrono::sys_days first = std::chrono::year(2000) / 1 / 1;
    const std::chrono::year_month_day day(
        first + std::chrono::days(static_cast<int>(std::floor(inputs[0]))));
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(day.year()),
                  static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
    return text.data();
  }
  for (std::size_t k = 0; k < values.size(); ++k)
    if (inputs[k] > 0) return values[k].empty() ? "(missing)" : values[k];
  return "(other)";
}

std::string ColumnEncoding::in_words() const {
  switch (kind) {
    case Kind::number:
      return decimal_comma ? "number with a decimal comma" : "number";
    case Kind::boolean:
      return "yes or no";
    case Kind::date:
      return std::string(time ? "date and time" : "date") + ", " +
             form_words[static_cast<std::size_t>(form)];
    case Kind::category:
      return std::to_string(values.size()) + (values.size() == 1 ? " category" : " categories") +
             (hashed > 0 ? ", others share " + std::to_string(hashed) + " inputs by hash" : "");
    case Kind::left_out:
      return "text, left out";
  }
  return "";
}

std::size_t width_of(const std::vector<ColumnEncoding>& columns) {
  std::size_t width = 0;
  for (const ColumnEncoding& column : columns) width += column.width();
  return width;
}

std::vector<std::string> input_names_of(const std::vector<ColumnEncoding>& columns) {
  std::vector<std::string> names;
  for (const ColumnEncoding& column : columns)
    for (std::string& name : column.input_names()) names.push_back(std::move(name));
  return names;
}

std::vector<bool> indicators_of(const std::vector<ColumnEncoding>& columns) {
  std::vector<bool> result;
  for (const ColumnEncoding& column : columns)
    for (std::size_t k = 0; k < column.width(); ++k) result.push_back(column.is_indicator(k));
  return result;
}

std::string encoding_to_json(const std::vector<ColumnEncoding>& columns) {
  auto list = nlohmann::ordered_json::array();
  for (const ColumnEncoding& c : columns) {
    nlohmann::ordered_json entry{{"column", c.column},
                                 {"kind", kind_words[static_cast<std::size_t>(c.kind)]}};
    if (c.decimal_comma) entry["decimal"] = ",";
    if (c.kind == Kind::date) {
      entry["form"] = form_words[static_cast<std::size_t>(c.form)];
      entry["time"] = c.time;
    }
    if (c.kind == Kind::category) {
      entry["values"] = c.values;
      entry["hashed"] = c.hashed;
      if (c.fill_most_frequent) entry["missing"] = "most-frequent";
    }
    list.push_back(std::move(entry));
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<ColumnEncoding> encoding_from_json(const std::string& text) {
  constexpr std::size_t most_places = 1 << 20;
  std::vector<ColumnEncoding> columns;
  for (const auto& entry : nlohmann::json::parse(text)) {
    ColumnEncoding c;
    c.column = entry.at("column").get<std::string>();
    c.kind = static_cast<Kind>(place_in(kind_words, entry.at("kind").get<std::string>()));
    c.decimal_comma = entry.value("decimal", ".") == ",";
    if (c.kind == Kind::date) {
      c.form = static_cast<DateForm>(place_in(form_words, entry.at("form").get<std::string>()));
      c.time = entry.at("time").get<bool>();
    }
    if (c.kind == Kind::category) {
      c.values = entry.at("values").get<Words>();
      c.hashed = entry.at("hashed").get<std::size_t>();
      c.fill_most_frequent = entry.contains("missing");
      if (c.hashed > most_places) throw InputError("an encoding has too many inputs");
    }
    columns.push_back(std::move(c));
  }
  return columns;
}

}  // namespace dasgd
