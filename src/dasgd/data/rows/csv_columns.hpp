// Which column of a table is what.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dasgd/data/rows/csv_profile.hpp"
#include "dasgd/data/table_options.hpp"

namespace dasgd {

/// The fields of a line, without the blanks and quotes around them.
std::vector<std::string> csv_texts(std::string_view line, char separator);

/// What the first lines are separated by: that which cuts all of them into as many fields; tabs
/// before semicolons before commas, which may be decimal ones.
char find_separator(std::string_view text);

/// Whether every line that is not blank ends with a separator, so that the last column is empty.
bool last_column_is_empty(std::string_view text, char separator);

/// The fields of a first line as names of columns; nothing where one of them is a number or a date.
/// Duplicate names are made distinct: "a", "a (2)".
std::optional<std::vector<std::string>> names_of(std::vector<std::string> fields);

/// What to do about a first line that is taken as a row.
inline constexpr const char* names_need_letters =
    "if it has the names of the columns, put a letter before each number";

struct CsvColumns {
  static constexpr int label = -1, ignored = -2;

  char separator = ',';
  bool header = false;       ///< the first line is one
  std::vector<int> meaning;  ///< of each column: its place in `encodings`, or one of above
  std::vector<ColumnEncoding>
      encodings;             ///< of the columns that are inputs; plain numbers at first
  std::size_t label_at = 0;  ///< among columns that are not excluded; only where there is a label
  bool has_label = false;
  bool label_comma = false;  ///< it is a number with a decimal comma
  std::string label_name;
  std::string note;  ///< how the first line was taken, where that may surprise

  /// From the first line that is not blank of the whole text. Throws InputError naming `path` for a
  /// label that is not there or columns that do not fit.
  CsvColumns(std::string_view text, char separator, const std::string& path,
             const TableOptions& options);

  /// Chooses how columns are taken by what they hold. Throws InputError where none is left.
  void learn(const CsvProfile& profile, const std::string& path, bool fill_most_frequent);
  /// Some input has, as far as was looked, a different text in nearly every row.
  bool leaves_out(const CsvProfile& profile) const;
  /// Every input is a number as it is written.
  bool plain() const;

 private:
  void choose(const std::vector<std::string>& fields, const std::string& path,
              const TableOptions& options);
  void match(const std::vector<std::string>& fields, const std::string& path,
             const Preprocessing& like);
  void require_as_matched(const std::vector<std::string>& fields, const std::string& path,
                          const TableOptions& options) const;
};

}  // namespace dasgd
