#include "dasgd/problems/logistic_stream.hpp"

#include "dasgd/problems/logistic_terms.hpp"

namespace dasgd {

double LogisticStream::gradient(std::span<const double> x, Rows rows,
                                std::span<double> gradient) const {
  const auto row_at = [&](std::size_t k) { return RowView(window_[rows[k]]); };
  answers_.add(logistic::count_right(rows.size(), row_at, x), rows.size());
  return logistic::mean_gradient(rows.size(), row_at, x, gradient);
}

double LogisticStream::full_gradient(std::span<const double> x, std::span<double> gradient) const {
  const auto kept = window_.kept();
  return logistic::mean_gradient(
      kept.size(), [&](std::size_t k) { return RowView(*kept[k]); }, x, gradient);
}

HeldOut LogisticStream::evaluate(std::span<const double> x) const {
  const auto kept = window_.kept();
  const auto row_at = [&](std::size_t k) { return RowView(*kept[k]); };
  return {.accuracy = static_cast<double>(logistic::count_right(kept.size(), row_at, x)) /
                      static_cast<double>(kept.size())};
}

std::optional<ArrivalFigures> LogisticStream::arrivals() const {
  ArrivalFigures figures = window_.figures();
  figures.prequential = answers_.accuracy();
  return figures;
}

}  // namespace dasgd
