// What a field of a table can be taken for.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "dasgd/data/column_encoding.hpp"

namespace dasgd {

/// Ways to read a field that is not missing, the preferred first.
enum class FieldForm {
  number,        ///< 1234.5
  comma_number,  ///< 1234,5 or 1.234,5
  boolean,       ///< true, false, yes, no, ja, nein, t, f, y, n, 0, 1
  year_month_day,
  day_month_year,
  month_day_year,
};
inline constexpr std::size_t field_forms = 6;

/// Whether the field is a number in this form; those beyond the range of float32 included.
bool is_number(std::string_view field);

/// A number with a decimal comma, with or without points between thousands.
std::optional<double> read_comma_number(std::string_view field);
std::optional<bool> read_boolean(std::string_view field);

struct DateRead {
  double days = 0;  ///< since 2000-01-01
  bool time = false;
};
/// 2024-05-31, 2024/05/31, 20240531T120000 is not one; 31.05.2024, 31/05/2024, 31-05-2024,
/// 05/31/2024, each with a time of the day or without: "T12:30", " 12:30:59.5", with "Z" or
/// "+02:00" at its end.
std::optional<DateRead> read_date(std::string_view field, DateForm form);

/// What a field that is not missing can be read as.
struct FieldForms {
  std::array<bool, field_forms> fits{};  ///< none: a text
  std::optional<double> point, comma;    ///< its value as a number; nothing beyond float32
  bool time = false;                     ///< it is a date with a time of the day

  bool has(FieldForm form) const { return fits[static_cast<std::size_t>(form)]; }
  bool is_date() const {
    return has(FieldForm::year_month_day) || has(FieldForm::day_month_year) ||
           has(FieldForm::month_day_year);
  }
};
FieldForms forms_of(std::string_view field);

/// Empty, NA, n/a, NaN, null, none, ?.
bool means_missing(std::string_view field);

}  // namespace dasgd
