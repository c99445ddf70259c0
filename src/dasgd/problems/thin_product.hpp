// Products with a matrix of few columns, like the weights of ten classes. A library packs its
// matrices first, which costs more than it gains where they are that thin.
#pragma once

#include <cstddef>
#include <type_traits>

namespace dasgd {

/// Numbers of a whole vector register, or of several.
constexpr std::ptrdiff_t whole_registers(std::ptrdiff_t numbers) { return (numbers + 3) / 4 * 4; }

/// Columns that such a matrix must have: as many as wanted where a part of a register can be used.
std::ptrdiff_t thin_columns(std::ptrdiff_t wanted);

/// A row-major matrix, or its transpose: neighbours in a column are `down` apart, those in a row
/// `along`.
struct FactorView {
  const float* numbers;
  std::ptrdiff_t down, along;
};

/// Rows of thin_columns numbers, `apart` from each other.
template <typename Number>
struct ThinView {
  Number* numbers;
  std::ptrdiff_t rows, columns, apart;
};

/// to += a * b. Each number is a sum of rounded products in the order of the rows of `b`, on every
/// x86-64 the same bits, however wide its registers are.
void add_thin_product(FactorView a, ThinView<const float> b, ThinView<float> to);
/// to = a * b, the same sums from zero.
void set_thin_product(FactorView a, ThinView<const float> b, ThinView<float> to);

/// The first columns of a row-major matrix of a library.
template <typename Matrix>
auto thin_view(Matrix& matrix, std::ptrdiff_t columns) {
  return ThinView<std::remove_pointer_t<decltype(matrix.data())>>{matrix.data(), matrix.rows(),
                                                                  columns, matrix.cols()};
}

}  // namespace dasgd
