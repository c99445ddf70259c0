// The rows of a piece of a CSV file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dasgd/data/rows/csv_columns.hpp"

namespace dasgd {

/// What is wrong with a line, counted from 0 in its piece.
struct CsvMistake {
  std::size_t line = 0;
  std::string what;
};

/// Reads whole lines; several pieces of a file are read at the same time.
class CsvRows {
 public:
  CsvRows(const CsvColumns& columns, const TableOptions& options)
      : columns_(columns), options_(options) {}

  /// Stops at the first mistake.
  void read(std::string_view piece);

  std::vector<float> inputs;        ///< row after row
  std::vector<double> labels;       ///< numbers; NaN: a text, or none where that may be
  std::vector<std::int32_t> texts;  ///< of labels, as places in `names`; -1: a number or none
  std::vector<std::string> names;
  std::vector<std::uint32_t> kept;  ///< which rows of the piece these are, where some are dropped
  std::size_t rows = 0;             ///< of the piece, dropped ones included
  std::size_t missing = 0;
  std::optional<CsvMistake> mistake;

 private:
  const char* read_row(const char* at, const char* end);
  const char* read_slowly(const char* at, const char* end, std::size_t column);
  void take(std::size_t column, double value);
  void take_text(std::size_t column, const std::string& text, bool quoted);
  void take_missing(std::size_t column, const std::string& text);
  void fail(const std::string& what);
  bool may_fill() const;

  const CsvColumns& columns_;
  const TableOptions& options_;
  std::unordered_map<std::string, std::int32_t> place_of_;  // of texts in `names`
  std::size_t line_ = 0;
  float* row_ = nullptr;  // of the inputs
  double label_ = 0;
  std::int32_t text_ = -1;
  bool drop_ = false, has_content_ = false;
};

}  // namespace dasgd
