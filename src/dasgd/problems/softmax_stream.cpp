#include "dasgd/problems/softmax_stream.hpp"

#include <utility>

namespace dasgd {
namespace {

/// The rows that `row_at` gives by their numbers.
template <typename RowAt>
class StreamRows final : public softmax::ClassifiedRows {
 public:
  StreamRows(std::size_t count, std::size_t width, RowAt row_at)
      : count_(count), width_(width), row_at_(std::move(row_at)) {}
  std::size_t count() const override { return count_; }
  std::size_t width() const override { return width_; }
  void copy(std::uint32_t row, std::span<float> to) const override { copy_row(row_at_(row), to); }
  std::uint32_t label(std::uint32_t row) const override {
    return static_cast<std::uint32_t>(row_at_(row).label);
  }

 private:
  const std::size_t count_, width_;
  const RowAt row_at_;
};

/// All rows that are kept now, one after the other.
auto kept_rows(const RowWindow& window, std::size_t width) {
  auto kept = window.kept();
  const std::size_t count = kept.size();
  return StreamRows(count, width,
                    [rows = std::move(kept)](std::size_t k) -> const Row& { return *rows[k]; });
}

}  // namespace

double SoftmaxStream::gradient(std::span<const float> x, Rows rows,
                               std::span<float> gradient) const {
  const auto taken = [this](std::uint32_t place) -> const Row& { return window_[place]; };
  const auto one_by_one = [&](std::uint32_t k) -> const Row& { return window_[rows[k]]; };
  const auto before = classifier_.examine(StreamRows(rows.size(), features_, one_by_one), x);
  answers_.add(before.counts.right(), rows.size());
  return classifier_.gradient(StreamRows(samples(), features_, taken), x, rows, gradient);
}

double SoftmaxStream::full_gradient(std::span<const float> x, std::span<float> gradient) const {
  return classifier_.full_gradient(kept_rows(window_, features_), x, gradient);
}

double SoftmaxStream::loss(std::span<const float> x) const {
  return classifier_.loss(kept_rows(window_, features_), x);
}

HeldOut SoftmaxStream::evaluate(std::span<const float> x) const {
  return classifier_.examine(kept_rows(window_, features_), x).held_out();
}

std::optional<ArrivalFigures> SoftmaxStream::arrivals() const {
  ArrivalFigures figures = window_.figures();
  figures.prequential = answers_.accuracy();
  return figures;
}

}  // namespace dasgd
