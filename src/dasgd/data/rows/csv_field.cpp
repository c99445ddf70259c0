#include "dasgd/data/rows/csv_field.hpp"

namespace dasgd {

CsvField scan_quoted(const char* at, const char* end, char separator) {
  CsvField field{.quoted = true, .open = true};
  const char* const begin = ++at;
  for (; at < end && *at != '\n'; ++at) {
    if (*at != '"') continue;
    field.open = at + 1 < end && at[1] == '"';
    if (!field.open) break;
    field.doubled = true;
    ++at;
  }
  field.text = {begin, static_cast<std::size_t>(at - begin)};
  field.end = find_field_end(at, end, separator);
  return field;
}

std::string unquoted(std::string_view text) {
  std::string plain;
  for (std::size_t k = 0; k < text.size(); ++k) {
    plain += text[k];
    if (text[k] == '"') ++k;
  }
  return plain;
}

}  // namespace dasgd
