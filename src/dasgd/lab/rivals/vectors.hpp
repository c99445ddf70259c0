// The passes over vectors that rivals make. Compiled once, so that equal algorithms round equally.
#pragma once

#include <span>

namespace dasgd {

/// x -= eta * g.
template <typename Real>
void subtract(std::span<Real> x, double eta, std::span<const Real> g);
/// x += weight * y.
template <typename Real>
void add(std::span<Real> x, double weight, std::span<const Real> y);
/// x *= factor.
template <typename Real>
void scale(std::span<Real> x, double factor);

}  // namespace dasgd
