#include "dasgd/data/rows/table_samples.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/data/rows/csv.hpp"
#include "dasgd/data/rows/row_labels.hpp"
#include "dasgd/data/rows/row_number.hpp"

namespace dasgd {
namespace {

constexpr std::size_t most_numbers = 1'000'000'000;

}  // namespace

Table read_csv(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path + ": cannot be opened; --data needs a CSV file");
  Table table;
  std::string line;
  bool begun = false;
  for (std::size_t at = 1; std::getline(file, line); ++at) {
    const auto fail = [&](const std::string& why) {
      throw InputError(path + ":" + std::to_string(at) + ": " + why);
    };
    const auto content = at == 1 ? without_byte_order_mark(line) : std::string_view(line);
    if (content.find_first_not_of(" \t\r") == content.npos) continue;
    const auto [values, wrong, is_text] = csv_fields(content);
    if (!std::exchange(begun, true) && is_text) continue;  // a header
    if (!wrong.empty()) fail(wrong);
    if (values.size() < 2) fail("has one column; at least one and a target are needed");
    if (table.targets.empty()) table.columns = values.size() - 1;
    if (values.size() - 1 != table.columns)
      fail("has " + std::to_string(values.size()) + " columns; the rows before have " +
           std::to_string(table.columns + 1));
    for (std::size_t c = 0; c < table.columns; ++c)
      table.inputs.push_back(static_cast<float>(values[c]));
    table.targets.push_back(values.back());
  }
  if (file.bad()) throw InputError(path + ": cannot be read; is it a file?");
  if (table.targets.empty()) throw InputError(path + ": holds no rows of numbers");
  return table;
}

Table dense(const LabelledRows& rows, const std::string& path) {
  if (rows.rows() * rows.dimension > most_numbers)
    throw InputError(path + ": has " + std::to_string(rows.rows()) + " rows of " +
                     std::to_string(rows.dimension) + " features, too many with their zeros");
  Table table{.columns = rows.dimension};
  table.inputs.resize(rows.rows() * rows.dimension);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t k = rows.row_start[r]; k < rows.row_start[r + 1]; ++k)
      table.inputs[r * rows.dimension + rows.columns[k]] = static_cast<float>(rows.values[k]);
    table.targets.push_back(rows.labels[r] > 0 ? 1 : 0);
  }
  return table;
}

TableSamples::TableSamples(Table table, bool classes, const std::string& path)
    : table_(std::move(table)) {
  const std::size_t rows = table_.targets.size();
  if (rows < 20)
    throw InputError(path + ": has " + std::to_string(rows) + " rows; at least 20 are needed");
  format_.input = {static_cast<std::int64_t>(table_.columns)};
  if (classes) {
    for (std::size_t r = 0; r < rows; ++r) {
      const double label = table_.targets[r];
      if (!(label >= 0 && label < static_cast<double>(most_classes)) || label != std::floor(label))
        throw InputError(path + ": row " + std::to_string(r + 1) + " has target " +
                         std::to_string(label) +
                         ", which is no class; classes are 0, 1, ...; for numbers use --loss mse");
      format_.classes = std::max(format_.classes, static_cast<std::size_t>(label) + 1);
    }
  }
  for (std::uint32_t r = 0; r < rows; ++r) rows_[r % 10 == 9 ? 1 : 0].push_back(r);
  normalise();
}

void TableSamples::normalise() {
  const auto n = static_cast<double>(rows_[0].size());
  for (std::size_t c = 0; c < table_.columns; ++c) {
    double mean = 0, squares = 0;
    for (const std::uint32_t r : rows_[0]) mean += table_.inputs[r * table_.columns + c] / n;
    for (const std::uint32_t r : rows_[0])
      squares += std::pow(table_.inputs[r * table_.columns + c] - mean, 2) / n;
    const double factor = squares > 1e-12 ? 1 / std::sqrt(squares) : 1;
    for (std::size_t r = 0; r < table_.targets.size(); ++r) {
      float& value = table_.inputs[r * table_.columns + c];
      value = static_cast<float>((value - mean) * factor);
    }
  }
}

void TableSamples::gather(Split split, Rows rows, Random*, SampleBatch& batch) const {
  batch.count = rows.size();
  batch.inputs.clear();
  batch.labels.clear();
  batch.values.clear();
  for (const std::uint32_t row : rows) {
    const std::uint32_t r = rows_[index(split)][row];
    const auto begin = table_.inputs.begin() + static_cast<std::ptrdiff_t>(r * table_.columns);
    batch.inputs.insert(batch.inputs.end(), begin,
                        begin + static_cast<std::ptrdiff_t>(table_.columns));
    if (format_.classes > 0) {
      batch.labels.push_back(static_cast<std::int64_t>(table_.targets[r]));
    } else {
      batch.values.push_back(static_cast<float>(table_.targets[r]));
    }
  }
}

}  // namespace dasgd
