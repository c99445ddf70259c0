// Lines of CSV or LIBSVM text, one row each, as they come.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dasgd/core/error.hpp"
#include "dasgd/data/rows/row.hpp"

namespace dasgd {

enum class RowFormat { csv, libsvm };

/// "csv" or "libsvm". Throws InputError for anything else.
RowFormat parse_row_format(const std::string& text);
std::string to_string(RowFormat format);

/// Takes lines apart, by the rules of `read_csv` (the label is the last column; a first line
/// without a number is a header) and of `read_libsvm`. Labels stay as they are written.
class RowText {
 public:
  /// `name` is for messages. Without a format the first line decides: in CSV it has a comma, in
  /// LIBSVM text it cannot.
  RowText(std::string name, std::optional<RowFormat> format, std::optional<std::size_t> features);

  /// The row of the next line; nothing if it is blank, a comment or a header. Throws what
  /// `mistake` makes for one that is not a row, or has other features than expected.
  std::optional<Row> read(std::string_view line);

  /// The number of features, where it is known: given, or taken from the first row of CSV.
  std::optional<std::size_t> features() const { return features_; }
  /// No row will have more features than those so far.
  void settle_features();

  /// "name:line: why".
  InputError mistake(const std::string& why) const;

 private:
  std::optional<Row> read_csv(std::string_view line);
  std::optional<Row> read_libsvm(std::string_view line);

  const std::string name_;
  std::optional<RowFormat> format_;
  std::optional<std::size_t> features_;
  bool learned_ = false;     // the features are those of the first rows
  std::size_t largest_ = 0;  // index so far
  std::size_t line_ = 0;
  bool csv_begun_ = false;  // a header would stand before
};

}  // namespace dasgd
