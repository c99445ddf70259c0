#pragma once

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd::test {

/// Compares the gradient with central differences of the loss at a random point.
template <typename Real>
void expect_gradient_matches_loss(const Objective<Real>& objective, double step, double tolerance) {
  Random random(3, Purpose::test);
  std::vector<Real> x(objective.dimension()), gradient(x.size());
  for (Real& c : x) c = static_cast<Real>(0.3 * random.normal());
  const double loss = objective.full_gradient(x, gradient);
  EXPECT_NEAR(loss, objective.loss(x), 1e-5 * (1 + std::fabs(loss)));
  for (std::size_t i = 0; i < x.size(); i += 1 + x.size() / 23) {
    const Real kept = x[i];
    x[i] = static_cast<Real>(kept + step);
    const double up = objective.loss(x);
    x[i] = static_cast<Real>(kept - step);
    const double down = objective.loss(x);
    x[i] = kept;
    EXPECT_NEAR(gradient[i], (up - down) / (2 * step), tolerance) << "coordinate " << i;
  }
}

/// |grad f(x) - grad f(y)| <= L |x - y| at random pairs; how close it comes to equality.
template <typename Real>
double largest_slope(const Objective<Real>& objective, int pairs) {
  Random random(4, Purpose::test);
  double largest = 0;
  std::vector<Real> x(objective.dimension()), y(x.size()), a(x.size()), b(x.size());
  for (int k = 0; k < pairs; ++k) {
    double distance = 0, change = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<Real>(0.5 * random.normal());
      y[i] = static_cast<Real>(0.5 * random.normal());
      distance += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
    }
    objective.full_gradient(x, a);
    objective.full_gradient(y, b);
    for (std::size_t i = 0; i < x.size(); ++i)
      change += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    largest = std::max(largest, std::sqrt(change / distance));
  }
  return largest;
}

}  // namespace dasgd::test
