#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/logistic_stream.hpp"
#include "dasgd/problems/softmax.hpp"
#include "dasgd/problems/softmax_stream.hpp"
#include "gradient_check.hpp"

namespace dasgd {
namespace {

TEST(LogisticStream, ComputesWhatLogisticComputes) {
  const Logistic all = Logistic::random(1);
  const LabelledRows& data = all.data();
  RowWindow window(200);
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const auto from = data.values.begin() + static_cast<std::ptrdiff_t>(data.row_start[r]);
    window.add({.values = {from, from + 20}, .label = data.labels[r], .dense = true}, {});
  }
  const LogisticStream stream(window, 20);
  std::vector<double> x(20, 0.1), of_all(20), of_stream(20);
  const std::vector<std::uint32_t> rows{3, 97, 5};
  EXPECT_EQ(stream.gradient(x, rows, of_stream), all.gradient(x, rows, of_all));
  EXPECT_EQ(of_stream, of_all);
  EXPECT_EQ(stream.full_gradient(x, of_stream), all.full_gradient(x, of_all));
  EXPECT_EQ(of_stream, of_all);
  EXPECT_EQ(stream.evaluate(x).accuracy, all.evaluate(x).accuracy);
}

TEST(SoftmaxStream, ComputesWhatSoftmaxComputesOfSparseAndDenseRows) {
  ImageSet images{.classes = 2};
  images.train = {.height = 1,
                  .width = 3,
                  .pixels_per_image = 3,
                  .pixels = {0, 255, 0, 255, 255, 0},
                  .labels = {1, 0}};
  const Softmax all(image_samples(images, {.scale = Scale::by_255}));
  RowWindow window(8);
  window.add({.columns = {1}, .values = {1}, .label = 1}, {});
  window.add({.values = {1, 1, 0}, .label = 0, .dense = true}, {});
  const SoftmaxStream stream(window, 3, 2);
  ASSERT_EQ(stream.dimension(), all.dimension());
  std::vector<float> x(all.dimension()), of_all(x.size()), of_stream(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i);
  const std::vector<std::uint32_t> rows{1, 0};
  EXPECT_EQ(stream.gradient(x, rows, of_stream), all.gradient(x, rows, of_all));
  EXPECT_EQ(of_stream, of_all);
  EXPECT_EQ(stream.loss(x), all.loss(x));
  test::expect_gradient_matches_loss(stream, 1e-2, 1e-3);
}

}  // namespace
}  // namespace dasgd
