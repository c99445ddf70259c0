// One field after the other of a CSV text.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace dasgd {

/// A field, where it is written.
struct CsvField {
  std::string_view text;      ///< without the blanks and quotes around it
  const char* end = nullptr;  ///< a separator, a newline or the end of everything
  bool quoted = false;
  bool doubled = false;  ///< it has quotes in it, written twice: see `unquoted`
  bool open = false;     ///< its quote is not closed on this line
};

inline bool is_csv_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Looks at eight bytes at a time.
inline const char* find_field_end(const char* at, const char* end, char separator) {
  constexpr std::uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
  const auto zeros = [](std::uint64_t bytes) { return (bytes - ones) & ~bytes & tops; };
  const std::uint64_t separators = ones * static_cast<unsigned char>(separator);
  for (; end - at >= 8; at += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    if (const auto found = zeros(bytes ^ separators) | zeros(bytes ^ (ones * '\n')))
      return at + std::countr_zero(found) / 8;
  }
  while (at < end && *at != separator && *at != '\n') ++at;
  return at;
}

/// A field that begins with a quote, which is there.
CsvField scan_quoted(const char* at, const char* end, char separator);

/// The field that begins here. What follows its closing quote is ignored.
inline CsvField scan_field(const char* at, const char* end, char separator) {
  while (at < end && is_csv_blank(*at) && *at != separator) ++at;
  if (at < end && *at == '"') return scan_quoted(at, end, separator);
  const char* const field_end = find_field_end(at, end, separator);
  const char* last = field_end;
  while (last > at && is_csv_blank(last[-1])) --last;
  return {.text = {at, static_cast<std::size_t>(last - at)}, .end = field_end};
}

/// With every second quote left out.
std::string unquoted(std::string_view text);

}  // namespace dasgd
