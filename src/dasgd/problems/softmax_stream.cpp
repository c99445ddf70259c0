#include "dasgd/problems/softmax_stream.hpp"

#include <algorithm>
#include <vector>

namespace dasgd {
namespace {

void copy_row(const Row& row, std::span<float> to) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  if (row.dense) {
    std::transform(row.values.begin(), row.values.end(), to.begin(), narrow);
    return;
  }
  std::fill(to.begin(), to.end(), 0.0f);
  for (std::size_t k = 0; k < row.values.size(); ++k) to[row.columns[k]] = narrow(row.values[k]);
}

/// Rows that were taken, by their places.
class Taken final : public softmax::ClassifiedRows {
 public:
  Taken(const RowWindow& window, std::size_t width) : window_(window), width_(width) {}
  std::size_t count() const override { return window_.places(); }
  std::size_t width() const override { return width_; }
  void copy(std::uint32_t row, std::span<float> to) const override { copy_row(window_[row], to); }
  std::uint32_t label(std::uint32_t row) const override {
    return static_cast<std::uint32_t>(window_[row].label);
  }

 private:
  const RowWindow& window_;
  const std::size_t width_;
};

/// All rows that were kept at its creation, one after the other.
class Kept final : public softmax::ClassifiedRows {
 public:
  Kept(const RowWindow& window, std::size_t width) : rows_(window.kept()), width_(width) {}
  std::size_t count() const override { return rows_.size(); }
  std::size_t width() const override { return width_; }
  void copy(std::uint32_t row, std::span<float> to) const override { copy_row(*rows_[row], to); }
  std::uint32_t label(std::uint32_t row) const override {
    return static_cast<std::uint32_t>(rows_[row]->label);
  }

 private:
  const std::vector<RowWindow::RowPtr> rows_;
  const std::size_t width_;
};

}  // namespace

double SoftmaxStream::gradient(std::span<const float> x, Rows rows,
                               std::span<float> gradient) const {
  return classifier_.gradient(Taken(window_, features_), x, rows, gradient);
}

double SoftmaxStream::full_gradient(std::span<const float> x, std::span<float> gradient) const {
  return classifier_.full_gradient(Kept(window_, features_), x, gradient);
}

double SoftmaxStream::loss(std::span<const float> x) const {
  return classifier_.loss(Kept(window_, features_), x);
}

HeldOut SoftmaxStream::evaluate(std::span<const float> x) const {
  return {.accuracy = classifier_.evaluate(Kept(window_, features_), x).accuracy};
}

}  // namespace dasgd
