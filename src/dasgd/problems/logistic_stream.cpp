#include "dasgd/problems/logistic_stream.hpp"

#include "dasgd/problems/logistic_terms.hpp"

namespace dasgd {

double LogisticStream::gradient(std::span<const double> x, Rows rows,
                                std::span<double> gradient) const {
  return logistic::mean_gradient(
      rows.size(), [&](std::size_t k) { return RowView(window_[rows[k]]); }, x, gradient);
}

double LogisticStream::full_gradient(std::span<const double> x, std::span<double> gradient) const {
  const auto kept = window_.kept();
  return logistic::mean_gradient(
      kept.size(), [&](std::size_t k) { return RowView(*kept[k]); }, x, gradient);
}

HeldOut LogisticStream::evaluate(std::span<const double> x) const {
  const auto kept = window_.kept();
  const auto row_at = [&](std::size_t k) { return RowView(*kept[k]); };
  return {.accuracy = logistic::share_right(kept.size(), row_at, x)};
}

}  // namespace dasgd
