// Tables in CSV files: numbers, a label, names of columns.
#pragma once

#include <string>
#include <string_view>

#include "dasgd/data/raw_data.hpp"
#include "dasgd/data/rows/csv_profile.hpp"
#include "dasgd/data/table_options.hpp"

namespace dasgd {

/// Reads a file with all cores. Fields are separated by tabs, semicolons or commas, whichever cuts
/// the first lines into as many fields each; a first line without a number or a date is a header;
/// quotes and a byte order mark are understood, line breaks in quotes are not. Columns of texts
/// become categories, and dates and booleans numbers (see ColumnEncoding). Throws InputError with
/// "path:line: ..." for anything else.
RawData read_csv(const std::string& path, const TableOptions& options = {});
/// The same of a text that is here already.
RawData read_csv(std::string_view text, const std::string& path, const TableOptions& options);

/// A table as it lies there, whatever is wrong with it.
struct CsvOverview {
  char separator = ',';
  std::vector<std::string> names;  ///< of all columns; empty without a header
  std::size_t lines_before = 0;    ///< the first row
  bool empty_end = false;          ///< every line ends with a separator; what follows is left out
  CsvProfile profile;
};
/// Looks at every field of a file. Throws InputError only for one that is empty or no text.
CsvOverview look_at_csv(const std::string& path);

}  // namespace dasgd
