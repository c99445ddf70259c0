#include "dasgd/data/rows/csv.hpp"

#include <algorithm>
#include <variant>

#include "dasgd/data/row_number.hpp"

namespace dasgd {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = std::min(text.find_first_not_of(" \t\r"), text.size());
  const auto last = text.find_last_not_of(" \t\r");
  return text.substr(first, last + 1 - first);
}

std::string csv_mistake(std::size_t column, std::string_view field, NoNumber why) {
  const std::string where = "column " + std::to_string(column);
  if (field.empty()) return where + " is empty";
  return where + ": " + shown_piece(field) + " " + std::string(in_words(why));
}

}  // namespace

CsvFields csv_fields(std::string_view line) {
  CsvFields fields;
  std::size_t column = 1;
  for (std::size_t at = 0; at <= line.size(); ++column) {
    const std::size_t comma = std::min(line.find(',', at), line.size());
    const auto field = trimmed(line.substr(at, comma - at));
    const auto number = row_number(field);
    const auto* const why = std::get_if<NoNumber>(&number);
    if (!why || *why != NoNumber::text) fields.is_text = false;
    if (!why)
      fields.values.push_back(std::get<double>(number));
    else if (fields.mistake.empty())
      fields.mistake = csv_mistake(column, field, *why);
    at = comma + 1;
  }
  return fields;
}

}  // namespace dasgd
