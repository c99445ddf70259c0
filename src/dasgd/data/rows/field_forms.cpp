#include "dasgd/data/rows/field_forms.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/plain_decimal.hpp"

namespace dasgd {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A word of few letters is any of these, which are in lower case.
template <std::size_t Count>
bool is_any(std::string_view text, const std::array<std::string_view, Count>& words) {
  std::array<char, 8> lower{};
  if (text.size() > lower.size()) return false;
  std::transform(text.begin(), text.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return std::ranges::count(words, std::string_view(lower.data(), text.size())) > 0;
}

// Takes digits from the front: at least `least`, at most `most` of them.
std::optional<int> take_digits(std::string_view& text, std::size_t least, std::size_t most) {
  std::size_t count = 0;
  int value = 0;
  while (count < std::min(most, text.size()) && is_digit(text[count]))
    value = 10 * value + (text[count++] - '0');
  if (count < least) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Days since 2000-01-01 of a date of the Gregorian calendar.
int days_of(int year, int month, int day) {
  const int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
  const int era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
  const int of_year = (153 * m + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 730425;
}

bool is_day(int year, int month, int day) {
  constexpr std::array<int, 12> days{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1 || day > days[static_cast<std::size_t>(month - 1)])
    return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month != 2 || day < 29 || leap;
}

// "T12:30:59.5+02:00" as a share of a day. Texts that end before that have no time of day.
std::optional<double> time_of(std::string_view text) {
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  const auto hour = take_digits(text, 1, 2);
  if (!hour || *hour > 24 || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  double seconds = *hour * 3600.0 + *minute * 60.0;
  if (take(text, ':')) {
    const auto second = take_digits(text, 2, 2);
    if (!second || *second > 60) return std::nullopt;
    seconds += *second;
    if (take(text, '.') && !take_digits(text, 1, 9)) return std::nullopt;
  }
  if (take(text, 'Z')) return text.empty() ? std::optional(seconds / 86400) : std::nullopt;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    const double sign = text.front() == '+' ? 1 : -1;
    text.remove_prefix(1);
    const auto hours = take_digits(text, 2, 2);
    take(text, ':');
    const auto minutes = text.empty() ? std::optional(0) : take_digits(text, 2, 2);
    if (!hours || !minutes) return std::nullopt;
    seconds -= sign * (*hours * 3600.0 + *minutes * 60.0);
  }
  return text.empty() ? std::optional(seconds / 86400) : std::nullopt;
}

}  // namespace

bool is_number(std::string_view field) {
  const auto found = row_number(field);
  const auto* const why = std::get_if<NoNumber>(&found);
  return !why || *why != NoNumber::text;
}

std::optional<double> read_comma_number(std::string_view field) {
  std::array<char, 40> plain{};
  if (field.empty() || field.size() >= plain.size()) return std::nullopt;
  std::size_t size = 0, since_point = 0;
  bool comma = false, points = false;
  std::string_view rest = field;
  if (rest.front() == '-' || rest.front() == '+') {
    if (rest.front() == '-') plain[size++] = '-';
    rest.remove_prefix(1);
  }
  for (std::size_t k = 0; k < rest.size(); ++k) {
    const char c = rest[k];
    if (c == '.') {  // between groups of three digits
      if (comma || k == 0 || (points ? since_point != 3 : k > 3)) return std::nullopt;
      points = true;
      since_point = 0;
    } else if (c == ',') {
      if (comma || (points && since_point != 3)) return std::nullopt;
      comma = true;
      plain[size++] = '.';
    } else if (is_digit(c) || ((c == 'e' || c == 'E' || c == '-') && comma)) {
      plain[size++] = c;
      ++since_point;
    } else {
      return std::nullopt;
    }
  }
  if (points && !comma && since_point != 3) return std::nullopt;
  const auto read = row_number({plain.data(), size});
  const double* const value = std::get_if<double>(&read);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<bool> read_boolean(std::string_view field) {
  constexpr std::array<std::string_view, 8> yes{"true", "yes", "ja", "wahr", "t", "y", "j", "1"};
  constexpr std::array<std::string_view, 7> no{"false", "no", "nein", "falsch", "f", "n", "0"};
  if (is_any(field, yes)) return true;
  if (is_any(field, no)) return false;
  return std::nullopt;
}

std::optional<DateRead> read_date(std::string_view field, DateForm form) {
  const bool year_first = form == DateForm::year_month_day;
  if (field.size() < 8 || !is_digit(field[0])) return std::nullopt;
  const auto first = take_digits(field, year_first ? 4 : 1, year_first ? 4 : 2);
  if (!first || field.empty()) return std::nullopt;
  const char mark = field.front();
  if (mark != '-' && mark != '/' && mark != '.') return std::nullopt;
  if (form == DateForm::month_day_year && mark == '.') return std::nullopt;
  field.remove_prefix(1);
  const auto second = take_digits(field, 1, 2);
  if (!second || !take(field, mark)) return std::nullopt;
  const auto third = take_digits(field, year_first ? 1 : 4, year_first ? 2 : 4);
  if (!third) return std::nullopt;
  const int year = year_first ? *first : *third;
  const int month = form == DateForm::month_day_year ? *first : *second;
  const int day = year_first ? *third : form == DateForm::month_day_year ? *second : *first;
  if (!is_day(year, month, day)) return std::nullopt;
  DateRead result{static_cast<double>(days_of(year, month, day))};
  if (field.empty()) return result;
  const auto time = time_of(field);
  if (!time) return std::nullopt;
  return DateRead{result.days + *time, true};
}

FieldForms forms_of(std::string_view field) {
  FieldForms found;
  const auto set = [&](FieldForm form, bool fits) {
    found.fits[static_cast<std::size_t>(form)] = fits;
    return fits;
  };
  const char* const end = field.data() + field.size();
  double value = 0;
  const bool plain = plain_decimal(field.data(), end, '.', value) == end;
  if (plain) {
    found.point = value;
    set(FieldForm::number, true);
  } else {
    const auto number = row_number(field);
    const auto* const why = std::get_if<NoNumber>(&number);
    if (!why) found.point = std::get<double>(number);
    set(FieldForm::number, !why || *why != NoNumber::text);
  }
  const bool whole = plain && field.find('.') == field.npos;
  found.comma = whole ? found.point : read_comma_number(field);
  set(FieldForm::comma_number, found.comma.has_value());
  set(FieldForm::boolean, read_boolean(field).has_value());
  if (plain) return found;  // a date has two points
  for (const DateForm form :
       {DateForm::month_day_year, DateForm::day_month_year, DateForm::year_month_day}) {
    const auto date = read_date(field, form);
    const auto first = static_cast<int>(FieldForm::year_month_day);
    if (set(static_cast<FieldForm>(first + static_cast<int>(form)), date.has_value()))
      found.time = date->time;
  }
  return found;
}

bool means_missing(std::string_view field) {
  constexpr std::array<std::string_view, 5> words{"na", "n/a", "nan", "null", "none"};
  if (field.empty() || field == "?") return true;
  return (field[0] | 0x20) == 'n' && is_any(field, words);
}

}  // namespace dasgd
