// Products with a matrix of few columns, like the weights of ten classes. A library packs its
// matrices first, which costs more than it gains where they are that thin.
#pragma once

#include <Eigen/Dense>
#include <cstddef>

namespace dasgd {

/// Columns that such a matrix must have: whole vector registers.
constexpr Eigen::Index thin_columns(Eigen::Index wanted) { return (wanted + 3) / 4 * 4; }

/// A row-major matrix, or its transpose: neighbours in a column are `down` apart, those in a row
/// `along`.
struct FactorView {
  const float* numbers;
  Eigen::Index down, along;
};

namespace thin {

/// `Lines` lines of to += a * b, which stay in registers meanwhile; lines of `b` and `to` are
/// `width` apart.
template <int Columns, int Lines>
void add_lines(FactorView a, const float* b, Eigen::Index depth, Eigen::Index width, float* to) {
  using Line = Eigen::Array<float, Columns, 1>;
  Line sums[Lines];
  for (int i = 0; i < Lines; ++i) sums[i] = Eigen::Map<const Line>(to + i * width);
  for (Eigen::Index k = 0; k < depth; ++k) {
    const Line part = Eigen::Map<const Line>(b + k * width);
    for (int i = 0; i < Lines; ++i) sums[i] += a.numbers[i * a.down + k * a.along] * part;
  }
  for (int i = 0; i < Lines; ++i) Eigen::Map<Line>(to + i * width) = sums[i];
}

template <int Columns, typename Matrix>
void add_columns(FactorView a, const Matrix& b, Eigen::Index column, Matrix& to) {
  const auto add = [&]<int Lines>(Eigen::Index line) {
    add_lines<Columns, Lines>({a.numbers + line * a.down, a.down, a.along}, b.data() + column,
                              b.rows(), to.cols(), to.data() + line * to.cols() + column);
  };
  Eigen::Index line = 0;
  for (; line + 4 <= to.rows(); line += 4) add.template operator()<4>(line);
  for (; line < to.rows(); ++line) add.template operator()<1>(line);
}

}  // namespace thin

/// to += a * b. `b` and `to` are row-major and have thin_columns.
template <typename Matrix>
void add_thin_product(FactorView a, const Matrix& b, Matrix& to) {
  Eigen::Index column = 0;
  for (; column + 12 <= to.cols(); column += 12) thin::add_columns<12>(a, b, column, to);
  for (; column < to.cols(); column += 4) thin::add_columns<4>(a, b, column, to);
}

}  // namespace dasgd
