// What was understood of a data set, for a person.
#pragma once

#include <string>

#include "dasgd/models/data_source.hpp"

namespace dasgd {

/// Rows, columns with their ranges, classes with their numbers, missing values; lines with
/// newlines. Of a CSV file also what becomes of each column, and all problems. Where a picture is
/// named, the first images are written there, as PNG. Throws InputError for data that cannot be
/// read.
std::string describe_data(const std::string& data, const SourceOptions& options,
                          const std::string& picture = {});

}  // namespace dasgd
