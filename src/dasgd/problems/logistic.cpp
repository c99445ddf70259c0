#include "dasgd/problems/logistic.hpp"

#include <algorithm>
#include <cmath>

#include "dasgd/problems/largest_eigenvalue.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

Logistic::Logistic(LabelledRows data) : data_(std::move(data)) {}

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

double Logistic::margin(std::size_t row, std::span<const double> x) const {
  double product = 0;
  for (std::size_t k = data_.row_start[row]; k < data_.row_start[row + 1]; ++k)
    product += data_.values[k] * x[data_.columns[k]];
  return data_.labels[row] * product;
}

// Adds the gradient of one row and returns its loss; exp never sees a positive argument.
double Logistic::add_row(std::size_t row, std::span<const double> x, double weight,
                         std::span<double> gradient) const {
  const double m = margin(row, x);
  const double e = std::exp(-std::fabs(m));
  const double share_wrong = m > 0 ? e / (1 + e) : 1 / (1 + e);  // 1 / (1 + exp(m))
  const double factor = -data_.labels[row] * share_wrong * weight;
  for (std::size_t k = data_.row_start[row]; k < data_.row_start[row + 1]; ++k)
    gradient[data_.columns[k]] += factor * data_.values[k];
  return std::log1p(e) + std::max(0.0, -m);
}

double Logistic::gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double weight = 1.0 / static_cast<double>(rows.size());
  double loss = 0;
  for (const std::uint32_t row : rows) loss += add_row(row, x, weight, gradient);
  return loss * weight;
}

double Logistic::full_gradient(std::span<const double> x, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double weight = 1.0 / static_cast<double>(samples());
  double loss = 0;
  for (std::size_t row = 0; row < samples(); ++row) loss += add_row(row, x, weight, gradient);
  return loss * weight;
}

std::optional<double> Logistic::accuracy(std::span<const double> x) const {
  std::size_t right = 0;
  for (std::size_t row = 0; row < samples(); ++row) right += margin(row, x) > 0 ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(samples());
}

std::optional<double> Logistic::smoothness() const {
  const auto gram = [this](std::span<const double> v, std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t row = 0; row < samples(); ++row) {
      const double product = margin(row, v) * data_.labels[row];
      for (std::size_t k = data_.row_start[row]; k < data_.row_start[row + 1]; ++k)
        out[data_.columns[k]] += product * data_.values[k];
    }
  };
  return largest_eigenvalue(dimension(), gram) / (4.0 * static_cast<double>(samples()));
}

}  // namespace dasgd
