// Comma-separated numbers, line by line.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace dasgd {

/// The numbers of a line; nothing if one of its fields is not a finite number.
std::optional<std::vector<double>> csv_fields(std::string_view line);

}  // namespace dasgd
