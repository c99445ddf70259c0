#include "dasgd/problems/thin_product.hpp"

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
      add_thin_product({a.data(), a.cols(), 1}, b, product);
      add_thin_product({a.data(), 1, a.cols()}, other, transposed);
      EXPECT_LT((product - before - a * b).cwiseAbs().maxCoeff(), 1e-5) << wanted;
      EXPECT_LT((transposed - b - a.transpose() * other).cwiseAbs().maxCoeff(), 1e-5) << wanted;
    }
}

}  // namespace
}  // namespace dasgd
