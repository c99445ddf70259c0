// A quadratic instance from a file: {"A": [[...], ...], "b": [...]}.
#pragma once

#include <string>
#include <vector>

namespace dasgd {

/// A x = b in the least-squares sense; A is row after row.
struct LinearSystem {
  std::size_t rows = 0, columns = 0;
  std::vector<double> a, b;
};

/// Throws InputError naming the file, and the line or element, for whatever is not such an
/// instance.
LinearSystem read_linear_system(const std::string& path);

}  // namespace dasgd
