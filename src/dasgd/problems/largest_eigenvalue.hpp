// The largest eigenvalue of a symmetric positive matrix that is only known by its products.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace dasgd {

/// Lanczos' method until the residual is less than `tolerance` of the estimate, `rounds` at most:
/// 300 leave a millionth or so in the worst spectra, and more would take longer than their
/// products. Power iteration would stand still next to many eigenvalues that are almost as large.
/// `product(v, out)` writes the matrix times v. The estimate is not above the eigenvalue.
double largest_eigenvalue(
    std::size_t dimension,
    const std::function<void(std::span<const double>, std::span<double>)>& product,
    double tolerance = 1e-9, int rounds = 300);

}  // namespace dasgd
