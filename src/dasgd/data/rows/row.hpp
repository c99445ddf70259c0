// One row of numbers with its label.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace dasgd {

struct Row {
  std::vector<std::uint32_t> columns;  ///< 0-based and ascending, one for each value
  std::vector<double> values;
  double label = 0;
  bool dense = false;  ///< the values are those of all columns, and `columns` is empty
};

/// All its columns; those that it does not name are 0.
inline void copy_row(const Row& row, std::span<float> to) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  if (row.dense) {
    std::transform(row.values.begin(), row.values.end(), to.begin(), narrow);
    return;
  }
  std::fill(to.begin(), to.end(), 0.0f);
  for (std::size_t k = 0; k < row.values.size(); ++k) to[row.columns[k]] = narrow(row.values[k]);
}

/// The same, kept elsewhere.
struct RowView {
  std::span<const std::uint32_t> columns;
  std::span<const double> values;
  double label = 0;
  bool dense = false;

  RowView(std::span<const std::uint32_t> of_columns, std::span<const double> of_values,
          double of_label, bool is_dense)
      : columns(of_columns), values(of_values), label(of_label), dense(is_dense) {}
  explicit RowView(const Row& row) : RowView(row.columns, row.values, row.label, row.dense) {}
};

}  // namespace dasgd
