#include "dasgd/lab/rivals/vectors.hpp"

#include <cstddef>

#include "dasgd/base/kernel.hpp"

namespace dasgd {

#define DASGD_PASSES(Real)                                                             \
  template <>                                                                          \
  DASGD_KERNEL void subtract(std::span<Real> x, double eta, std::span<const Real> g) { \
    const Real step = static_cast<Real>(eta);                                          \
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= step * g[i];                    \
  }                                                                                    \
  template <>                                                                          \
  DASGD_KERNEL void add(std::span<Real> x, double weight, std::span<const Real> y) {   \
    const Real w = static_cast<Real>(weight);                                          \
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += w * y[i];                       \
  }                                                                                    \
  template <>                                                                          \
  DASGD_KERNEL void scale(std::span<Real> x, double factor) {                          \
    const Real f = static_cast<Real>(factor);                                          \
    for (Real & value : x) value *= f;                                                 \
  }
DASGD_PASSES(float)
DASGD_PASSES(double)
#undef DASGD_PASSES

}  // namespace dasgd
