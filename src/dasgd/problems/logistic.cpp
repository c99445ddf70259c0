#include "dasgd/problems/logistic.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/problems/largest_eigenvalue.hpp"
#include "dasgd/problems/logistic_terms.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

Logistic::Logistic(LabelledRows data)
    : data_(std::move(data)), dense_(data_.values.size() == data_.rows() * data_.dimension) {}

Logistic Logistic::random(std::uint64_t seed, std::size_t rows, std::size_t dimension) {
  Random features(seed, Purpose::problem_matrix), labels(seed, Purpose::problem_labels);
  LabelledRows data;
  data.dimension = dimension;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < dimension; ++c) {
      data.columns.push_back(static_cast<std::uint32_t>(c));
      data.values.push_back(features.normal());
    }
    data.row_start.push_back(data.columns.size());
    data.labels.push_back(labels.below(2) == 0 ? -1 : 1);
  }
  return Logistic(std::move(data));
}

RowView Logistic::row(std::size_t r) const {
  const std::size_t first = data_.row_start[r], size = data_.row_start[r + 1] - first;
  return {{data_.columns.data() + first, size},
          {data_.values.data() + first, size},
          data_.labels[r],
          dense_};
}

double Logistic::gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const {
  return logistic::mean_gradient(
      rows.size(), [&](std::size_t k) { return row(rows[k]); }, x, gradient);
}

HeldOut Logistic::evaluate(std::span<const double> x) const {
  const auto row_at = [this](std::size_t r) { return row(r); };
  return {.accuracy = logistic::share_right(samples(), row_at, x)};
}

KnownConstants Logistic::known() const {
  const auto gram = [this](std::span<const double> v, std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t row = 0; row < samples(); ++row) {
      const double product = logistic::margin(this->row(row), v) * data_.labels[row];
      for (std::size_t k = data_.row_start[row]; k < data_.row_start[row + 1]; ++k)
        out[data_.columns[k]] += product * data_.values[k];
    }
  };
  return {
      .smoothness = largest_eigenvalue(dimension(), gram) / (4.0 * static_cast<double>(samples())),
      .least_loss = 0};
}

}  // namespace dasgd
