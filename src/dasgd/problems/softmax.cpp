#include "dasgd/problems/softmax.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "dasgd/problems/largest_eigenvalue.hpp"

namespace dasgd {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Weights = Eigen::Map<const Matrix>;
using Index = Eigen::Index;

// Few enough for the pixels of a chunk to stay in the second cache between its two products.
constexpr std::size_t rows_at_a_time = 32;

Index size(std::size_t n) { return static_cast<Index>(n); }

// The images of `rows`, scaled to [0, 1], with a last column of ones.
Matrix gather(const LabelledImages& images, std::span<const std::uint32_t> rows) {
  const std::size_t pixels = images.pixels_per_image;
  Matrix z(size(rows.size()), size(pixels + 1));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::uint8_t* const from = images.pixels.data() + rows[r] * pixels;
    float* const to = z.data() + r * (pixels + 1);
    for (std::size_t p = 0; p < pixels; ++p) to[p] = static_cast<float>(from[p]) * (1.0f / 255.0f);
    to[pixels] = 1.0f;
  }
  return z;
}

// Turns scores into (probabilities - one-hot labels) and returns the summed cross-entropy.
double subtract_labels(Matrix& scores, const LabelledImages& images,
                       std::span<const std::uint32_t> rows) {
  double loss = 0;
  for (Index r = 0; r < scores.rows(); ++r) {
    auto row = scores.row(r);
    const Index label = images.labels[rows[static_cast<std::size_t>(r)]];
    const float of_label = row[label];
    const float largest = row.maxCoeff();
    row = (row.array() - largest).exp();
    const float sum = row.sum();
    loss += std::log(sum) + largest - of_label;
    row /= sum;
    row[label] -= 1.0f;
  }
  return loss;
}

// Calls visit(rows) for all samples, a few at a time.
template <typename Visit>
void for_each_chunk(std::size_t samples, Visit&& visit) {
  std::vector<std::uint32_t> rows;
  for (std::size_t first = 0; first < samples; first += rows_at_a_time) {
    rows.clear();
    for (std::size_t r = first; r < std::min(samples, first + rows_at_a_time); ++r)
      rows.push_back(static_cast<std::uint32_t>(r));
    visit(std::span<const std::uint32_t>(rows));
  }
}

}  // namespace

Softmax::Softmax(ImageSet images) : images_(std::move(images)) {}

double Softmax::gradient(std::span<const float> x, Rows rows, std::span<float> gradient) const {
  const Weights weights(x.data(), size(pixels() + 1), size(images_.classes));
  Eigen::Map<Matrix> g(gradient.data(), weights.rows(), weights.cols());
  g.setZero();
  const float share = 1.0f / static_cast<float>(rows.size());
  double loss = 0;
  for (; !rows.empty(); rows = rows.subspan(std::min(rows.size(), rows_at_a_time))) {
    const Rows chunk = rows.first(std::min(rows.size(), rows_at_a_time));
    const Matrix z = gather(images_.train, chunk);
    Matrix error = z * weights;
    loss += subtract_labels(error, images_.train, chunk);
    error *= share;
    g.noalias() += z.transpose() * error;
  }
  return loss * share;
}

double Softmax::full_gradient(std::span<const float> x, std::span<float> gradient) const {
  std::vector<float> part(dimension());
  std::vector<double> sum(dimension(), 0.0);
  double loss = 0;
  for_each_chunk(samples(), [&](Rows rows) {
    const auto share = static_cast<double>(rows.size()) / static_cast<double>(samples());
    loss += this->gradient(x, rows, part) * share;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i] * share;
  });
  std::transform(sum.begin(), sum.end(), gradient.begin(),
                 [](double v) { return static_cast<float>(v); });
  return loss;
}

double Softmax::loss(std::span<const float> x) const {
  const Weights weights(x.data(), size(pixels() + 1), size(images_.classes));
  double loss = 0;
  for_each_chunk(samples(), [&](Rows rows) {
    Matrix scores = gather(images_.train, rows) * weights;
    loss += subtract_labels(scores, images_.train, rows);
  });
  return loss / static_cast<double>(samples());
}

HeldOut Softmax::evaluate(std::span<const float> x) const {
  const Weights weights(x.data(), size(pixels() + 1), size(images_.classes));
  std::size_t right = 0;
  double loss = 0;
  for_each_chunk(images_.test.count(), [&](Rows rows) {
    Matrix scores = gather(images_.test, rows) * weights;
    for (Index r = 0; r < scores.rows(); ++r) {
      Index guess = 0;
      scores.row(r).maxCoeff(&guess);
      right += guess == images_.test.labels[rows[static_cast<std::size_t>(r)]] ? 1 : 0;
    }
    loss += subtract_labels(scores, images_.test, rows);
  });
  const auto count = static_cast<double>(images_.test.count());
  return {static_cast<double>(right) / count, loss / count};
}

std::optional<double> Softmax::smoothness() const {
  const auto gram = [this](std::span<const double> v, std::span<double> out) {
    Eigen::VectorXf in = Eigen::Map<const Eigen::VectorXd>(v.data(), size(v.size())).cast<float>();
    Eigen::Map<Eigen::VectorXd> sum(out.data(), size(out.size()));
    sum.setZero();
    for_each_chunk(samples(), [&](Rows rows) {
      const Matrix z = gather(images_.train, rows);
      sum += (z.transpose() * (z * in)).cast<double>();
    });
  };
  return largest_eigenvalue(pixels() + 1, gram, 1e-6) / (2.0 * static_cast<double>(samples()));
}

}  // namespace dasgd
