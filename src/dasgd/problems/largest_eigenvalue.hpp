// The largest eigenvalue of a symmetric positive matrix that is only known by its products.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace dasgd {

/// Power iteration until the estimate moves by less than `tolerance` of itself, `rounds` at most.
/// `product(v, out)` writes the matrix times v. The estimate is never above the eigenvalue.
inline double largest_eigenvalue(
    std::size_t dimension,
    const std::function<void(std::span<const double>, std::span<double>)>& product,
    double tolerance = 1e-9, int rounds = 1000) {
  std::vector<double> v(dimension), image(dimension);
  for (std::size_t i = 0; i < dimension; ++i) v[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));
  double estimate = 0;
  for (int round = 0; round < rounds; ++round) {
    double norm = 0;
    for (const double c : v) norm += c * c;
    norm = std::sqrt(norm);
    if (norm == 0) return 0;
    for (double& c : v) c /= norm;
    product(v, image);
    double rayleigh = 0;
    for (std::size_t i = 0; i < dimension; ++i) rayleigh += v[i] * image[i];
    if (std::fabs(rayleigh - estimate) <= tolerance * rayleigh) return rayleigh;
    estimate = rayleigh;
    std::swap(v, image);
  }
  return estimate;
}

}  // namespace dasgd
