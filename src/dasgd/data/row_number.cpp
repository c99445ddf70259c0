#include "dasgd/data/row_number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

#include "dasgd/base/utf8.hpp"

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

namespace {

// Whether a number beyond the range of a double is too close to 0: by the place of its first digit.
bool is_tiny(std::string_view number) {
  const auto power_at = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, power_at);
  std::string_view power_text = number.substr(std::min(power_at + 1, number.size()));
  if (power_text.starts_with('+')) power_text.remove_prefix(1);
  std::int64_t power = 0;
  const auto read =
      std::from_chars(power_text.data(), power_text.data() + power_text.size(), power);
  if (read.ec == std::errc::result_out_of_range) return power_text.starts_with('-');
  const auto point = std::min(digits.find('.'), digits.size());
  const auto first = std::min(digits.find_first_of("123456789"), digits.size());
  return power < static_cast<std::int64_t>(first) - static_cast<std::int64_t>(point);
}

}  // namespace

std::variant<double, NoNumber> row_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
    return NoNumber::text;
  if (error == std::errc::result_out_of_range) {
    if (is_tiny(text)) return 0.0;
    return NoNumber::too_large;
  }
  if (!std::isfinite(value)) return NoNumber::not_finite;
  if (std::abs(value) > std::numeric_limits<float>::max()) return NoNumber::too_large;
  return value;
}

namespace {

// U+0080 to U+009F.
bool has_control_beyond_ascii(std::string_view text) {
  for (std::size_t k = 0; k + 1 < text.size(); ++k)
    if (text[k] == '\xC2' && static_cast<unsigned char>(text[k + 1]) < 0xA0) return true;
  return false;
}

}  // namespace

std::string shown_piece(std::string_view text) {
  constexpr std::size_t most = 40, longest_letter = 4;
  std::size_t size = std::min(most, text.size());
  const auto cuts_a_letter = [&] { return size < text.size() && (text[size] & 0xC0) == 0x80; };
  while (size + longest_letter > most && cuts_a_letter()) --size;
  const std::string_view piece = text.substr(0, size);
  const bool is_text = is_utf8(piece) && !has_control_beyond_ascii(piece);
  std::string shown = "\"";
  for (const char c : piece)
    shown += (c >= ' ' && c <= '~') || (is_text && (c & 0x80) != 0) ? c : '?';
  return shown + (size < text.size() ? "...\"" : "\"");
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

}  // namespace dasgd
