// The sums of logistic regression, over rows wherever they are kept.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "dasgd/data/rows/row.hpp"

namespace dasgd::logistic {

/// Sums log(1 + exp(-m)) with one logarithm per 256 terms: a product of factors in [1, 2] cannot
/// overflow before.
class LossSum {
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

/// Four sums side by side, so that none waits for the one before.
inline double dot(const double* a, const double* b, std::size_t size) {
  double sum[4] = {0, 0, 0, 0};
  std::size_t k = 0;
  for (; k + 4 <= size; k += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sum[lane] += a[k + lane] * b[k + lane];
  for (; k < size; ++k) sum[0] += a[k] * b[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// b_j a_j . x.
inline double margin(const RowView& row, std::span<const double> x) {
  if (row.dense) return row.label * dot(row.values.data(), x.data(), x.size());
  double product = 0;
  for (std::size_t k = 0; k < row.values.size(); ++k) product += row.values[k] * x[row.columns[k]];
  return row.label * product;
}

/// Adds the gradient and the loss of one row; exp never sees a positive argument.
inline void add_row(const RowView& row, std::span<const double> x, double weight,
                    std::span<double> gradient, LossSum& loss) {
  const double m = margin(row, x);
  const double e = std::exp(-std::fabs(m));
  const double share_wrong = m > 0 ? e / (1 + e) : 1 / (1 + e);  // 1 / (1 + exp(m))
  const double factor = -row.label * share_wrong * weight;
  if (row.dense) {
    const double* const values = row.values.data();
    for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += factor * values[k];
  } else {
    for (std::size_t k = 0; k < row.values.size(); ++k)
      gradient[row.columns[k]] += factor * row.values[k];
  }
  loss.add(m, e);
}

/// Writes the mean gradient of the rows row_at(0) .. row_at(count - 1) and returns the mean loss.
/// Rows of label -1 and +1 count as much as `weights` say.
template <typename RowAt>
double mean_gradient(std::size_t count, RowAt&& row_at, std::span<const double> x,
                     std::span<double> gradient, std::array<double, 2> weights = {1, 1}) {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double share = 1.0 / static_cast<double>(count);
  if (weights[0] == weights[1]) {  // one logarithm for rows of both labels
    LossSum loss;
    for (std::size_t k = 0; k < count; ++k)
      add_row(row_at(k), x, share * weights[0], gradient, loss);
    return loss.value() * share * weights[0];
  }
  LossSum loss[2];
  for (std::size_t k = 0; k < count; ++k) {
    const auto& row = row_at(k);
    const std::size_t label = row.label > 0 ? 1 : 0;
    add_row(row, x, share * weights[label], gradient, loss[label]);
  }
  return (loss[0].value() * weights[0] + loss[1].value() * weights[1]) * share;
}

/// How many of those rows are on the right side; one in between is on that of -1.
template <typename RowAt>
std::size_t count_right(std::size_t count, RowAt&& row_at, std::span<const double> x) {
  std::size_t right = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto& row = row_at(k);
    right += (margin(row, x) * row.label > 0) == (row.label > 0) ? 1 : 0;
  }
  return right;
}

}  // namespace dasgd::logistic
