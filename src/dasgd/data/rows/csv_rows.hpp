// The rows of a piece of a CSV file.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dasgd/data/rows/csv_columns.hpp"
#include "dasgd/data/rows/text_codes.hpp"

namespace dasgd {

/// What is wrong with a line, counted from 0 in its piece.
struct CsvMistake {
  std::size_t line = 0;
  std::string what;
  bool other_form = false;  ///< the field may show that its column is to be taken in another way
};

/// Reads whole lines; several pieces of a file are read at the same time. The text must stay while
/// texts of it are looked at.
class CsvRows {
 public:
  CsvRows(const CsvColumns& columns, const TableOptions& options);

  /// Stops at the first mistake.
  void read(std::string_view piece);

  std::vector<float> inputs;        ///< row after row, one for each encoding
  std::vector<double> labels;       ///< numbers; NaN: a text, or none where that may be
  std::vector<std::int32_t> texts;  ///< of labels, as places in `names`; -1: a number or none
  TextCodes names;                  ///< of labels
  std::vector<TextCodes> values;    ///< of each encoding that is a category: what `inputs` count
  std::vector<std::uint32_t> kept;  ///< which rows of the piece these are, where some are dropped
  std::size_t rows = 0;             ///< of the piece, dropped ones included
  std::size_t missing = 0;
  std::optional<CsvMistake> mistake;

 private:
  const char* read_row(const char* at, const char* end);
  const char* read_slowly(const char* at, const char* end, std::size_t column);
  void take(std::size_t column, double value);
  void take_text(std::size_t column, std::string_view text, bool quoted);
  void take_label(std::size_t column, std::string_view text);
  void take_missing(std::size_t column, std::string_view text);
  void fail(const std::string& what, bool other_form = false);
  void fail_form(std::size_t column, std::string_view text, const std::string& why);
  bool may_fill() const;

  const CsvColumns& columns_;
  const TableOptions& options_;
  struct Column {
    bool number = false;  // else it is read slowly
    char point = '.';
  };
  std::vector<Column> reading_;       // of each column
  std::deque<std::string> unquoted_;  // texts that had quotes in them
  std::size_t line_ = 0;
  float* row_ = nullptr;  // of the inputs
  double label_ = 0;
  std::int32_t text_ = -1;
  bool drop_ = false;
};

}  // namespace dasgd
