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
TEST(ThinProduct, RoundsEachProductInTheOrderOfTheRows) {
  const Matrix a = drawn(11, 40), b = drawn(40, thin_columns(10));
  Matrix product = Matrix::Zero(a.rows(), b.cols());
  add_thin_product({a.data(), a.cols(), 1}, thin_view(b, b.cols()), thin_view(product, b.cols()));
#ifdef __x86_64__
  for (Eigen::Index row = 0; row < a.rows(); ++row)
    for (Eigen::Index column = 0; column < b.cols(); ++column) {
      float sum = 0;
      for (Eigen::Index k = 0; k < b.rows(); ++k) {
        const volatile float rounded = a(row, k) * b(k, column);
        sum += rounded;
      }
      EXPECT_EQ(product(row, column), sum);
    }
#else
  EXPECT_LT((product - a * b).cwiseAbs().maxCoeff(), 1e-4);
#endif
}

}  // namespace
}  // namespace dasgd
