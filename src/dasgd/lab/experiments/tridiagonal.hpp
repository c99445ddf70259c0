// The quadratic of lower bounds, with the noise of published experiments.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

/// f(x) = x^T A x / 2 - b^T x with A = tridiagonal(-1, 2, -1) / 4 and b = (-1, 0, .. 0) / 4, L = 1,
/// from x^0 = (sqrt(d), 0, .. 0). A sample adds one and the same normal number to all coordinates.
class Tridiagonal final : public Objective<float> {
 public:
  Tridiagonal(std::size_t dimension, double deviation)
      : dimension_(dimension), deviation_(deviation) {}

  std::size_t dimension() const override { return dimension_; }
  std::size_t samples() const override { return std::size_t{1} << 30; }
  std::vector<float> start() const override {
    std::vector<float> x(dimension_, 0.0f);
    x[0] = std::sqrt(static_cast<float>(dimension_));
    return x;
  }
  double gradient(std::span<const float> x, Rows rows, std::span<float> g) const override {
    const double value = full_gradient(x, g);
    Random random(1, Purpose::problem_vector, rows[0]);
    const auto same = static_cast<float>(deviation_ * random.normal());
    for (float& number : g) number += same;
    return value;
  }
  double full_gradient(std::span<const float> x, std::span<float> g) const override {
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float before = i > 0 ? x[i - 1] : 0.0f, after = i + 1 < x.size() ? x[i + 1] : 0.0f;
      const float b = i == 0 ? -0.25f : 0.0f, product = (2 * x[i] - before - after) / 4;
      g[i] = product - b;
      value += static_cast<double>(x[i]) * (static_cast<double>(product) / 2 - b);
    }
    return value;
  }
  /// x_i = -(1 - i / (d + 1)), i from 1.
  KnownConstants known() const override {
    return {.smoothness = 1, .least_loss = -0.125 * (1 - 1 / static_cast<double>(dimension_ + 1))};
  }

 private:
  const std::size_t dimension_;
  const double deviation_;
};

}  // namespace dasgd
