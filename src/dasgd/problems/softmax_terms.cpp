#include "dasgd/problems/softmax_terms.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/problems/largest_eigenvalue.hpp"
#include "dasgd/problems/thin_product.hpp"

namespace dasgd::softmax {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Index = Eigen::Index;

// Few enough for the numbers of a chunk to stay in the second cache between its two products.
constexpr std::size_t rows_at_a_time = 64;

Index size(std::size_t n) { return static_cast<Index>(n); }

/// The numbers of some rows, with a last column of ones. Each row begins at a line of the cache.
class Gathered {
 public:
  Gathered(const ClassifiedRows& data, Rows rows)
      : rows_(size(rows.size())),
        width_(size(data.width() + 1)),
        numbers_(1, rows_ * apart() + line) {
    data.fetch(rows);
    void* begin = numbers_.data();
    std::size_t room = static_cast<std::size_t>(numbers_.size()) * sizeof(float);
    first_ = static_cast<float*>(std::align(64, sizeof(float), begin, room));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      float* const to = first_ + size(r) * apart();
      data.copy(rows[r], {to, data.width()});
      to[data.width()] = 1.0f;
    }
  }

  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;

  FactorView view() const { return {first_, apart(), 1}; }
  FactorView transposed() const { return {first_, 1, apart()}; }
  auto matrix() {
    return Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(first_, rows_, width_, {apart()});
  }

 private:
  static constexpr Index line = 16;  // 64 bytes
  Index apart() const { return (width_ + line - 1) / line * line; }

  const Index rows_, width_;
  Matrix numbers_;
  float* first_;
};

/// The weights; with classes of zeros more where products need them.
class Weights {
 public:
  Weights(std::span<const float> x, std::size_t classes)
      : classes_(size(classes)),
        view_{x.data(), size(x.size() / classes), thin_columns(classes_), thin_columns(classes_)} {
    if (!is_padded()) return;
    padded_ = Matrix::Zero(view_.rows, view_.columns);
    padded_.leftCols(classes_) = Eigen::Map<const Matrix>(x.data(), view_.rows, classes_);
    view_.numbers = padded_.data();
  }
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  /// Rows of them begin at a vector register, so that their sums are the same bits everywhere.
  Matrix scores(FactorView z, std::size_t rows) const {
    Matrix result = Matrix::Zero(size(rows), whole_registers(classes_));
    set_thin_product(z, view_, thin_view(result, view_.columns));
    return result;
  }
  /// Of a chunk.
  Matrix scores_of(const ClassifiedRows& data, Rows rows) const {
    if (const float* const kept = data.kept_chunks())
      return scores({kept + rows.front() * (data.width() + 1), 1, size(rows_at_a_time)},
                    rows.size());
    return scores(Gathered(data, rows).view(), rows.size());
  }
  Index classes() const { return classes_; }
  Index columns() const { return view_.columns; }

  /// Writes the gradient that `write(sum)` writes, in place where that has no classes more.
  template <typename Write>
  void write_gradient(std::span<float> gradient, Write&& write) const {
    Matrix padded;
    float* sum = gradient.data();
    if (is_padded()) {
      padded.resize(view_.rows, view_.columns);
      sum = padded.data();
    }
    write(ThinView<float>{sum, view_.rows, view_.columns, view_.columns});
    if (is_padded())
      Eigen::Map<Matrix>(gradient.data(), view_.rows, classes_) = padded.leftCols(classes_);
  }

 private:
  bool is_padded() const { return view_.columns != classes_; }

  Index classes_;
  Matrix padded_;  // empty where nothing is missing
  ThinView<const float> view_;
};

// Probabilities below this count as 0: no gradient changes by more than this times a number of a
// sample, but products with numbers next to 0 take a processor a hundred times as long.
constexpr float least_probability = 1e-30f;

// Turns scores into weighted (probabilities - one-hot labels) and returns the summed cross-entropy.
double subtract_labels(Matrix& scores, Index classes, const ClassifiedRows& data, Rows rows) {
  double loss = 0;
  for (Index r = 0; r < scores.rows(); ++r) {
    auto row = scores.row(r).head(classes);
    const Index label = data.label(rows[static_cast<std::size_t>(r)]);
    const float of_label = row[label];
    const float largest = row.maxCoeff();
    row = (row.array() - largest).exp();
    row = (row.array() < least_probability).select(0.0f, row);
    const float sum = row.sum();
    const float weight = data.weight(rows[static_cast<std::size_t>(r)]);
    loss += weight * (std::log(sum) + largest - of_label);
    row /= sum;
    row[label] -= 1.0f;
    if (weight != 1.0f) row *= weight;
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
    visit(Rows(rows));
  }
}

}  // namespace

double Classifier::gradient(const ClassifiedRows& data, std::span<const float> x, Rows rows,
                            std::span<float> gradient) const {
  const Weights weights(x, classes);
  const float share = 1.0f / static_cast<float>(rows.size());
  double loss = 0;
  weights.write_gradient(gradient, [&](ThinView<float> sum) {
    if (rows.empty()) std::fill_n(sum.numbers, sum.rows * sum.apart, 0.0f);
    auto* write = set_thin_product;
    for (; !rows.empty(); rows = rows.subspan(std::min(rows.size(), rows_at_a_time))) {
      const Rows chunk = rows.first(std::min(rows.size(), rows_at_a_time));
      const Gathered z(data, chunk);
      Matrix error = weights.scores(z.view(), chunk.size());
      loss += subtract_labels(error, weights.classes(), data, chunk);
      error *= share;
      write(z.transposed(), thin_view(std::as_const(error), weights.columns()), sum);
      write = add_thin_product;
    }
  });
  return loss * share;
}

double Classifier::full_gradient(const ClassifiedRows& data, std::span<const float> x,
                                 std::span<float> gradient) const {
  std::vector<float> part(x.size());
  std::vector<double> sum(x.size(), 0.0);
  double loss = 0;
  for_each_chunk(data.count(), [&](Rows rows) {
    const auto share = static_cast<double>(rows.size()) / static_cast<double>(data.count());
    loss += this->gradient(data, x, rows, part) * share;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i] * share;
  });
  std::transform(sum.begin(), sum.end(), gradient.begin(),
                 [](double v) { return static_cast<float>(v); });
  return loss;
}

double Classifier::loss(const ClassifiedRows& data, std::span<const float> x) const {
  const Weights weights(x, classes);
  double loss = 0;
  for_each_chunk(data.count(), [&](Rows rows) {
    Matrix scores = weights.scores_of(data, rows);
    loss += subtract_labels(scores, weights.classes(), data, rows);
  });
  return loss / static_cast<double>(data.count());
}

PartFigures Classifier::examine(const ClassifiedRows& data, std::span<const float> x) const {
  const Weights weights(x, classes);
  PartFigures found{.samples = data.count(), .counts = ClassCounts(classes)};
  double loss = 0;
  for_each_chunk(data.count(), [&](Rows rows) {
    Matrix scores = weights.scores_of(data, rows);
    for (Index r = 0; r < scores.rows(); ++r) {
      Index guess = 0;
      scores.row(r).head(weights.classes()).maxCoeff(&guess);
      found.counts.add(data.label(rows[static_cast<std::size_t>(r)]),
                       static_cast<std::size_t>(guess));
    }
    loss += subtract_labels(scores, weights.classes(), data, rows);
  });
  found.loss = loss / static_cast<double>(data.count());
  return found;
}

std::vector<float> chunks_to_keep(const ClassifiedRows& data) {
  std::vector<float> kept((data.count() + rows_at_a_time - 1) / rows_at_a_time * rows_at_a_time *
                          (data.width() + 1));
  for_each_chunk(data.count(), [&](Rows rows) {
    Gathered gathered(data, rows);
    const auto z = gathered.matrix();
    float* const to = kept.data() + rows.front() * (data.width() + 1);
    Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(to, z.cols(), z.rows(), {size(rows_at_a_time)}) =
        z.transpose();
  });
  return kept;
}

double Classifier::smoothness(const ClassifiedRows& data) const {
  const auto gram = [&data](std::span<const double> v, std::span<double> out) {
    Eigen::VectorXf in = Eigen::Map<const Eigen::VectorXd>(v.data(), size(v.size())).cast<float>();
    Eigen::Map<Eigen::VectorXd> sum(out.data(), size(out.size()));
    sum.setZero();
    for_each_chunk(data.count(), [&](Rows rows) {
      Gathered gathered(data, rows);
      auto z = gathered.matrix();
      for (Index r = 0; r < z.rows(); ++r)
        z.row(r) *= std::sqrt(data.weight(rows[static_cast<std::size_t>(r)]));
      sum += (z.transpose() * (z * in)).cast<double>();
    });
  };
  return largest_eigenvalue(data.width() + 1, gram, 1e-6) /
         (2.0 * static_cast<double>(data.count()));
}

}  // namespace dasgd::softmax
