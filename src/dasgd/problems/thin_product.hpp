// Products with a matrix of few columns, like the weights of ten classes. A library packs its
// matrices first, which costs more than it gains where they are that thin.
#pragma once

#include <cstddef>
#include <type_traits>

namespace dasgd {

/// Columns that such a matrix must have: whole vector registers.
constexpr std::ptrdiff_t thin_columns(std::ptrdiff_t wanted) { return (wanted + 3) / 4 * 4; }

/// A row-major matrix, or its transpose: neighbours in a column are `down` apart, those in a row
/// `along`.
struct FactorView {
  const float* numbers;
  std::ptrdiff_t down, along;
};

/// Rows of thin_columns numbers, one behind the other.
template <typename Number>
struct ThinView {
  Number* numbers;
  std::ptrdiff_t rows, columns;
};

/// to += a * b. Each number is a sum of rounded products in the order of the rows of `b`, on every
/// x86-64 the same bits, however wide its registers are.
void add_thin_product(FactorView a, ThinView<const float> b, ThinView<float> to);

/// A row-major matrix of a library.
template <typename Matrix>
auto thin_view(Matrix& matrix) {
  return ThinView<std::remove_pointer_t<decltype(matrix.data())>>{matrix.data(), matrix.rows(),
                                                                  matrix.cols()};
}

}  // namespace dasgd
