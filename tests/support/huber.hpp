// A smooth objective that is quadratic near its rows and linear far away: gradients are bounded.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd::test {

/// f(x) = mean of h(a_j . x - b_j) with h the Huber loss of width 1; L <= mean of |a_j|^2.
class Huber final : public Objective<double> {
 public:
  Huber(Random& random, std::size_t dimension, std::size_t rows)
      : dimension_(dimension), a_(rows * dimension), b_(rows) {
    for (double& c : a_) c = random.normal();
    for (double& c : b_) c = 3 * random.normal();
  }

  std::size_t dimension() const override { return dimension_; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    std::fill(g.begin(), g.end(), 0.0);
    const auto rows = static_cast<double>(b_.size());
    double loss = 0;
    for (std::size_t j = 0; j < b_.size(); ++j) {
      const double* const a = a_.data() + j * dimension_;
      double r = -b_[j];
      for (std::size_t c = 0; c < dimension_; ++c) r += a[c] * x[c];
      loss += (std::fabs(r) <= 1 ? r * r / 2 : std::fabs(r) - 0.5) / rows;
      const double slope = std::clamp(r, -1.0, 1.0) / rows;
      for (std::size_t c = 0; c < dimension_; ++c) g[c] += slope * a[c];
    }
    return loss;
  }
  KnownConstants known() const override {
    double sum = 0;
    for (const double c : a_) sum += c * c;
    return {.smoothness = sum / static_cast<double>(b_.size()), .least_loss = 0};
  }

 private:
  std::size_t dimension_;
  std::vector<double> a_, b_;
};

}  // namespace dasgd::test
