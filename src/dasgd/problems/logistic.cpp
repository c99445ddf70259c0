#include "dasgd/problems/logistic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dasgd/problems/largest_eigenvalue.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

namespace {

// Four sums side by side, so that none waits for the one before.
double dot(const double* a, const double* b, std::size_t size) {
  double sum[4] = {0, 0, 0, 0};
  std::size_t k = 0;
  for (; k + 4 <= size; k += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sum[lane] += a[k + lane] * b[k + lane];
  for (; k < size; ++k) sum[0] += a[k] * b[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

/// Sums log(1 + exp(-m)) with one logarithm per 256 terms: a product of factors in [1, 2] cannot
/// overflow before.
class Logistic::LossSum {
 public:
  /// m is a margin, e = exp(-|m|).
  void add(double m, double e) {
    linear_ += std::max(0.0, -m);
    product_ *= 1 + e;
    if (++factors_ % 256 == 0) linear_ += std::log(std::exchange(product_, 1.0));
  }
  double value() const { return linear_ + std::log(product_); }

 private:
  double linear_ = 0, product_ = 1;
  std::size_t factors_ = 0;
};

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

double Logistic::margin(std::size_t row, std::span<const double> x) const {
  if (dense_)
    return data_.labels[row] * dot(data_.values.data() + data_.row_start[row], x.data(), x.size());
  double product = 0;
  for (std::size_t k = data_.row_start[row]; k < data_.row_start[row + 1]; ++k)
    product += data_.values[k] * x[data_.columns[k]];
  return data_.labels[row] * product;
}

// Adds the gradient and the loss of one row; exp never sees a positive argument.
void Logistic::add_row(std::size_t row, std::span<const double> x, double weight,
                       std::span<double> gradient, LossSum& loss) const {
  const double m = margin(row, x);
  const double e = std::exp(-std::fabs(m));
  const double share_wrong = m > 0 ? e / (1 + e) : 1 / (1 + e);  // 1 / (1 + exp(m))
  const double factor = -data_.labels[row] * share_wrong * weight;
  if (dense_) {
    const double* const values = data_.values.data() + data_.row_start[row];
    for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += factor * values[k];
  } else {
    for (std::size_t k = data_.row_start[row]; k < data_.row_start[row + 1]; ++k)
      gradient[data_.columns[k]] += factor * data_.values[k];
  }
  loss.add(m, e);
}

double Logistic::gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double weight = 1.0 / static_cast<double>(rows.size());
  LossSum loss;
  for (const std::uint32_t row : rows) add_row(row, x, weight, gradient, loss);
  return loss.value() * weight;
}

double Logistic::full_gradient(std::span<const double> x, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double weight = 1.0 / static_cast<double>(samples());
  LossSum loss;
  for (std::size_t row = 0; row < samples(); ++row) add_row(row, x, weight, gradient, loss);
  return loss.value() * weight;
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
