#include "dasgd/problems/thin_product.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix drawn(Eigen::Index rows, Eigen::Index columns) {
  Random random(1, Purpose::test, static_cast<std::uint32_t>(rows * 100 + columns));
  return Matrix::NullaryExpr(rows, columns, [&] { return static_cast<float>(random.normal()); });
}

TEST(ThinProduct, AddsWhatALibraryMultiplies) {
  for (const Eigen::Index wanted : {1, 4, 10, 12, 13, 100})
    for (const Eigen::Index rows : {1, 4, 7}) {
      const Matrix a = drawn(rows, 9), b = drawn(9, thin_columns(wanted));
      const Matrix before = drawn(rows, b.cols()), other = drawn(rows, b.cols());
      Matrix product = before, transposed = b;
      add_thin_product({a.data(), a.cols(), 1}, thin_view(b, b.cols()),
                       thin_view(product, b.cols()));
      add_thin_product({a.data(), 1, a.cols()}, thin_view(other, b.cols()),
                       thin_view(transposed, b.cols()));
      EXPECT_LT((product - before - a * b).cwiseAbs().maxCoeff(), 1e-5) << wanted;
      EXPECT_LT((transposed - b - a.transpose() * other).cwiseAbs().maxCoeff(), 1e-5) << wanted;
    }
}

// Fused products and sums would round once less.
float sum_of_rounded_products(float sum, const Matrix& a, Eigen::Index row, const Matrix& b,
                              Eigen::Index column) {
  for (Eigen::Index k = 0; k < b.rows(); ++k) {
    const volatile float rounded = a(row, k) * b(k, column);
    sum += rounded;
  }
  return sum;
}

void expect_sums(const Matrix& product, const Matrix& before, const Matrix& a, const Matrix& b) {
#ifdef __x86_64__
  for (Eigen::Index row = 0; row < product.rows(); ++row)
    for (Eigen::Index column = 0; column < product.cols(); ++column)
      EXPECT_EQ(product(row, column),
                sum_of_rounded_products(before(row, column), a, row, b, column))
          << "number " << row << ", " << column << " of " << product.rows();
#else
  EXPECT_LT((product - before - a * b).cwiseAbs().maxCoeff(), 1e-4);
#endif
}

TEST(ThinProduct, RoundsEachProductInTheOrderOfTheRows) {
  for (const Eigen::Index rows : {11, 16, 49, 64})
    for (const Eigen::Index columns : {10, 23})
      for (const Eigen::Index length : {40, 64, 130}) {
        const Matrix a = drawn(rows, length), b = drawn(length, thin_columns(columns));
        const Matrix lying = a.transpose(), before = drawn(rows, b.cols());
        const Matrix zero = Matrix::Zero(rows, b.cols());
        const FactorView in_rows{a.data(), length, 1}, in_columns{lying.data(), 1, rows};
        for (const FactorView view : {in_rows, in_columns}) {
          Matrix product = before;
          add_thin_product(view, thin_view(b, b.cols()), thin_view(product, b.cols()));
          expect_sums(product, before, a, b);
          set_thin_product(view, thin_view(b, b.cols()), thin_view(product, b.cols()));
          expect_sums(product, zero, a, b);
        }
      }
}

}  // namespace
}  // namespace dasgd
