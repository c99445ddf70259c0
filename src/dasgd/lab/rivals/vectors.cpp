#include "dasgd/lab/rivals/vectors.hpp"

#include <cstddef>

namespace dasgd {

template <typename Real>
void subtract(std::span<Real> x, double eta, std::span<const Real> g) {
  const Real step = static_cast<Real>(eta);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= step * g[i];
}

template <typename Real>
void add(std::span<Real> x, double weight, std::span<const Real> y) {
  const Real w = static_cast<Real>(weight);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += w * y[i];
}

template <typename Real>
void scale(std::span<Real> x, double factor) {
  const Real f = static_cast<Real>(factor);
  for (Real& value : x) value *= f;
}

template void subtract(std::span<float>, double, std::span<const float>);
template void subtract(std::span<double>, double, std::span<const double>);
template void add(std::span<float>, double, std::span<const float>);
template void add(std::span<double>, double, std::span<const double>);
template void scale(std::span<float>, double);
template void scale(std::span<double>, double);

}  // namespace dasgd
