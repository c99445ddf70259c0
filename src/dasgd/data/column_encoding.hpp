// How a column of a table becomes numbers: texts as categories, dates, booleans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dasgd {

/// The order in which a date is written.
enum class DateForm { year_month_day, day_month_year, month_day_year };

/// A reader keeps one number for each column and row: the number itself; 0 or 1 for a boolean; days
/// since 2000-01-01 for a date; the place of the text for a category, negative where it has none.
/// NaN is a missing value. `expand` makes the inputs of a model of it.
struct ColumnEncoding {
  enum class Kind {
    number,
    boolean,
    date,  ///< days; sine and cosine of the time of the year; a number for each day of the week;
           ///< with a time, sine and cosine of that
    category,  ///< a number for each value: 1 for that of the row, 0 for the others
    left_out,  ///< nearly every row has a text of its own
  };
  /// So many values have a number of their own; more than that share `hashed` numbers.
  static constexpr std::size_t most_values = 100, hash_places = 32;

  std::string column;  ///< its name; empty without a header
  Kind kind = Kind::number;
  bool decimal_comma = false;                ///< of numbers
  DateForm form = DateForm::year_month_day;  ///< of dates, like the next
  bool time = false;                         ///< of the day
  std::vector<std::string> values;  ///< of categories, the most frequent first; an empty one is a
                                    ///< missing text
  std::size_t hashed = 0;           ///< numbers that all other values share, by FNV-1a
  bool fill_most_frequent = false;  ///< a missing text is taken for the first value

  bool is_plain() const { return kind == Kind::number && !decimal_comma; }
  /// Numbers that a model sees of it.
  std::size_t width() const;
  /// What they are called: "city=Bonn", "born.days".
  std::vector<std::string> input_names() const;
  /// Whether its input `k` says yes or no: 0 or 1, which is not scaled.
  bool is_indicator(std::size_t k) const;
  /// Of a text, as `expand` wants it; an empty one is missing.
  int place_of(std::string_view text) const;
  void expand(float kept, std::span<float> to) const;
  /// What stood there, of its inputs: "Bonn", "2024-05-31". "?" where that is not known.
  std::string shown(std::span<const float> inputs) const;
  /// "4 categories", "date and time": for people.
  std::string in_words() const;
};

/// Inputs of all columns, their names, and which of them are indicators.
std::size_t width_of(const std::vector<ColumnEncoding>& columns);
std::vector<std::string> input_names_of(const std::vector<ColumnEncoding>& columns);
std::vector<bool> indicators_of(const std::vector<ColumnEncoding>& columns);

/// The entry `encoding` of preprocessing.json.
std::string encoding_to_json(const std::vector<ColumnEncoding>& columns);
/// Throws InputError or what the parser throws for anything else.
std::vector<ColumnEncoding> encoding_from_json(const std::string& text);

}  // namespace dasgd
