// Tables in CSV files: numbers, a label, names of columns.
#pragma once

#include <string>
#include <string_view>

#include "dasgd/data/raw_data.hpp"
#include "dasgd/data/table_options.hpp"

namespace dasgd {

/// Reads a file with all cores. Fields are separated by commas, or by semicolons or tabs where the
/// first line has no comma; a first line without a number is a header; quotes and a byte order mark
/// are understood, line breaks in quotes are not. Throws InputError with "path:line: ..." for
/// anything else.
RawData read_csv(const std::string& path, const TableOptions& options = {});
/// The same of a text that is here already.
RawData read_csv(std::string_view text, const std::string& path, const TableOptions& options);

}  // namespace dasgd
