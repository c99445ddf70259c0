// Comma-separated numbers, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dasgd {

/// The fields of a line.
struct CsvFields {
  std::vector<double> values;  ///< all of them, where there is no mistake
  std::string mistake;         ///< of the first field that is not a finite number, with its column
  bool is_text = true;         ///< no field is a number, nan and inf included, as in a header
};

CsvFields csv_fields(std::string_view line);

}  // namespace dasgd
