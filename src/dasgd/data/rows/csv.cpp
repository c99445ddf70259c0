#include "dasgd/data/rows/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace dasgd {
namespace {

std::optional<double> number(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r+");
  const auto last = text.find_last_not_of(" \t\r");
  if (first == text.npos) return std::nullopt;
  text = text.substr(first, last - first + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<double>> csv_fields(std::string_view line) {
  std::vector<double> values;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t comma = std::min(line.find(',', at), line.size());
    const auto value = number(line.substr(at, comma - at));
    if (!value) return std::nullopt;
    values.push_back(*value);
    at = comma + 1;
  }
  return values;
}

}  // namespace dasgd
