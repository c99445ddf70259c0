#include "dasgd/lab/planner/stand_in.hpp"

#include <cmath>

#include "dasgd/random/random.hpp"

namespace dasgd {

StandIn::StandIn(std::size_t dimension, std::size_t samples, double noise, std::uint64_t seed)
    : samples_(samples), curvature_(dimension), points_(dimension * samples) {
  const double d = static_cast<double>(dimension), n = static_cast<double>(samples);
  for (std::size_t i = 0; i < dimension; ++i)
    curvature_[i] = static_cast<float>(std::pow(100, -static_cast<double>(i) / (d - 1)));
  Random random(seed, Purpose::problem_vector);
  for (float& x : points_) x = static_cast<float>(noise * random.normal());
  for (std::size_t i = 0; i < dimension; ++i) {  // their mean is 0
    double mean = 0;
    for (std::size_t k = 0; k < samples; ++k) mean += points_[k * dimension + i] / n;
    for (std::size_t k = 0; k < samples; ++k)
      points_[k * dimension + i] -= static_cast<float>(mean);
  }
}

double StandIn::gradient(std::span<const float> x, Rows rows, std::span<float> g) const {
  const double loss = full_gradient(x, g);
  const auto count = static_cast<float>(rows.size());
  for (const std::uint32_t row : rows)
    for (std::size_t i = 0; i < g.size(); ++i)
      g[i] -= curvature_[i] * points_[row * g.size() + i] / count;
  return loss;
}

double StandIn::full_gradient(std::span<const float> x, std::span<float> g) const {
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = curvature_[i] * x[i];
  return loss(x);
}

double StandIn::loss(std::span<const float> x) const {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += 0.5 * static_cast<double>(curvature_[i]) * static_cast<double>(x[i]) *
           static_cast<double>(x[i]);
  return sum;
}

}  // namespace dasgd
