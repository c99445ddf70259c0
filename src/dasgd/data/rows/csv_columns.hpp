// Which column of a table is what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dasgd/data/rows/csv_file.hpp"

namespace dasgd {

/// The fields of a line, without the blanks and quotes around them.
std::vector<std::string> csv_texts(std::string_view line, char separator);

struct CsvColumns {
  static constexpr int label = -1, ignored = -2;

  char separator = ',';
  bool header = false;       ///< the first line is one
  std::vector<int> meaning;  ///< of each column: its place among the inputs, or one of above
  std::size_t inputs = 0;    ///< per row
  std::size_t label_at = 0;  ///< only where there is a label
  bool has_label = false;
  std::vector<std::string> names;  ///< of the inputs; empty without a header
  std::string label_name;

  /// From the first line that is not blank. Throws InputError naming `path` for a label that is
  /// not there or columns that do not fit.
  CsvColumns(std::string_view first_line, const std::string& path, const TableOptions& options);

 private:
  void choose(const std::vector<std::string>& fields, const std::string& path,
              const TableOptions& options);
  void match(const std::vector<std::string>& fields, const std::string& path,
             const Preprocessing& like);
};

}  // namespace dasgd
