// Tables in CSV files: numbers, a label, names of columns.
#pragma once

#include <string>
#include <string_view>

#include "dasgd/data/preprocessing.hpp"
#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// How the columns of a table are to be read.
struct TableOptions {
  std::string label = {};            ///< its column, by name or by number from 1; empty: the last
  Missing missing = Missing::error;  ///< numbers that are not there: empty, NA, NaN, null, ?
  bool classes = true;               ///< labels may be texts; else they must be numbers
  /// Of a model that wants to see these rows: its columns, by name where both have names, else in
  /// its order. Then the label may be absent.
  const Preprocessing* like = nullptr;
};

/// Reads a file with all cores. Fields are separated by commas, or by semicolons or tabs where the
/// first line has no comma; a first line without a number is a header; quotes and a byte order mark
/// are understood, line breaks in quotes are not. Throws InputError with "path:line: ..." for
/// anything else.
RawData read_csv(const std::string& path, const TableOptions& options = {});
/// The same of a text that is here already.
RawData read_csv(std::string_view text, const std::string& path, const TableOptions& options);

}  // namespace dasgd
