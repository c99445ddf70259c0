// What the columns of a CSV file hold, found out before it is read.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "dasgd/data/column_encoding.hpp"
#include "dasgd/data/rows/field_forms.hpp"
#include "dasgd/data/rows/text_codes.hpp"

namespace dasgd {

/// Fields of one column.
struct ColumnProfile {
  static constexpr std::size_t most_counted = 100'000;

  ColumnProfile() = default;
  ColumnProfile(ColumnProfile&&) = default;
  ColumnProfile& operator=(ColumnProfile&&) = default;

  std::size_t present = 0, missing = 0;
  std::array<std::size_t, field_forms> fits{};  ///< fields that have this form
  std::size_t endless = 0;                      ///< numbers beyond float32
  std::size_t with_comma = 0;                   ///< numbers only with a decimal comma
  std::size_t times = 0;                        ///< dates with a time of the day
  struct Range {
    double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
    void add(double value, std::size_t times_more);
  };
  Range points, commas;      ///< of numbers in either form
  TextCodes values;          ///< and how often they occur
  std::size_t counted = 0;   ///< fields that these are
  bool more_values = false;  ///< than were counted
  struct Stray {
    std::string text;
    std::size_t line = 0;  ///< from 0; of the piece, then of the file
  };
  std::array<Stray, field_forms> strays;  ///< the first field that has not this form

  /// A field that occurs so often, on `line` first.
  void add(std::string_view field, std::size_t line, std::size_t times_more);
  /// What was found of a later piece, the values of its fields excepted.
  void add(const ColumnProfile& later, std::size_t lines_before);
  void count(const TextCodes& later);
  std::size_t fitting(FieldForm form) const { return fits[static_cast<std::size_t>(form)]; }
  /// Numbers whose commas may stand between thousands: "1,265", and none like "0,5" or "12,5".
  /// Empty where there are none, else one of them.
  std::string like_thousands() const;
  /// Nearly all fields are dates, in whatever form.
  bool has_dates() const;

 private:
  std::deque<std::string> texts_;  // of the values: these stay where they are
};

struct CsvProfile {
  std::vector<ColumnProfile> columns;
  std::size_t rows = 0;      ///< lines that have as many fields as the first
  std::size_t odd_rows = 0;  ///< those that have not,
  std::size_t odd_line = 0;  ///< and the first of them, from 0
  std::size_t lines = 0;     ///< all, blank ones included
  bool sampled = false;      ///< only pieces of the text were looked at

  /// Some column has numbers that need a decimal comma.
  bool decimal_commas() const;
  void add(const CsvProfile& later);
};

/// Looks at whole lines; of a large text at pieces here and there unless `all` of it is wanted,
/// which takes all cores.
CsvProfile profile_csv(std::string_view text, char separator, std::size_t columns, bool all);

/// How a column is best taken: the form that nearly all of its fields have. Stray fields are then
/// mistakes of the file. `commas`: of the table. The values of a category are not yet known.
ColumnEncoding choose_encoding(const ColumnProfile& column, bool commas, const std::string& name);

}  // namespace dasgd
