#include "dasgd/data/row_number.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace dasgd {

std::string_view in_words(NoNumber why) {
  switch (why) {
    case NoNumber::text:
      return "is not a number";
    case NoNumber::not_finite:
      return "is not finite";
    case NoNumber::too_large:
      return "is beyond the range of float32";
  }
  return "";
}

std::variant<double, NoNumber> row_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
    return NoNumber::text;
  if (error == std::errc::result_out_of_range) return NoNumber::too_large;
  if (!std::isfinite(value)) return NoNumber::not_finite;
  if (std::abs(value) > std::numeric_limits<float>::max()) return NoNumber::too_large;
  return value;
}

std::string shown_piece(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown = "\"";
  for (const char c : text.substr(0, most)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > most ? "...\"" : "\"");
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

}  // namespace dasgd
