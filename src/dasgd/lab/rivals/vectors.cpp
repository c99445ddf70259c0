#include "dasgd/lab/rivals/vectors.hpp"

#include <cstddef>

#include "dasgd/base/kernel.hpp"

namespace dasgd {
namespace {

#define DASGD_PASSES(Real)                                                                 \
  DASGD_KERNEL void subtract_from(std::span<Real> x, Real step, std::span<const Real> g) { \
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= step * g[i];                        \
  }                                                                                        \
  DASGD_KERNEL void add_to(std::span<Real> x, Real weight, std::span<const Real> y) {      \
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += weight * y[i];                      \
  }                                                                                        \
  DASGD_KERNEL void multiply(std::span<Real> x, Real factor) {                             \
    for (Real & value : x) value *= factor;                                                \
  }
DASGD_PASSES(float)
DASGD_PASSES(double)
#undef DASGD_PASSES

}  // namespace

template <typename Real>
void subtract(std::span<Real> x, double eta, std::span<const Real> g) {
  subtract_from(x, static_cast<Real>(eta), g);
}

template <typename Real>
void add(std::span<Real> x, double weight, std::span<const Real> y) {
  add_to(x, static_cast<Real>(weight), y);
}

template <typename Real>
void scale(std::span<Real> x, double factor) {
  multiply(x, static_cast<Real>(factor));
}

template void subtract(std::span<float>, double, std::span<const float>);
template void subtract(std::span<double>, double, std::span<const double>);
template void add(std::span<float>, double, std::span<const float>);
template void add(std::span<double>, double, std::span<const double>);
template void scale(std::span<float>, double);
template void scale(std::span<double>, double);

}  // namespace dasgd
