// The smallest objective there is: f(x) = x^2 / 2 from x^0 = 1, with L = 1.
#pragma once

#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"

namespace dasgd {

class Parabola final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 1; }
  std::vector<double> start() const override { return {1}; }
  KnownConstants known() const override { return {.smoothness = 1, .least_loss = 0}; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    g[0] = x[0];
    return x[0] * x[0] / 2;
  }
};

}  // namespace dasgd
