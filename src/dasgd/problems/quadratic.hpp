// f(x) = |A x - b|^2 / 2: the first experiment of the paper (section 5).
#pragma once

#include <cstdint>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/linear_system.hpp"

namespace dasgd {

/// Least squares without noise: every gradient is the full one. L = largest singular value squared.
class Quadratic final : public Objective<double> {
 public:
  explicit Quadratic(LinearSystem system);

  /// The paper's instance: d x d, singular values in [1, 2] with both ends taken, b ~ N(0, 1).
  static Quadratic random(std::uint64_t seed, std::size_t dimension = 10);

  std::size_t dimension() const override { return system_.columns; }
  double gradient(std::span<const double> x, Rows, std::span<double> gradient) const override {
    return full_gradient(x, gradient);
  }
  double full_gradient(std::span<const double> x, std::span<double> gradient) const override;
  KnownConstants known() const override;

  /// The minimiser of smallest norm.
  std::vector<double> optimum() const;
  const LinearSystem& system() const { return system_; }

 private:
  LinearSystem system_;
};

}  // namespace dasgd
