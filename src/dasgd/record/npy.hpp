// Vectors in NumPy's .npy format, version 1.0: the model that a run leaves behind.
#pragma once

#include <span>
#include <string>

namespace dasgd {

/// The bytes of a one-dimensional array of float or double.
template <typename Real>
std::string to_npy(std::span<const Real> vector);

}  // namespace dasgd
