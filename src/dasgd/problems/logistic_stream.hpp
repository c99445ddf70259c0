// Logistic regression on the rows of a stream.
#pragma once

#include "dasgd/core/objective.hpp"
#include "dasgd/data/stream/prequential.hpp"
#include "dasgd/data/stream/row_window.hpp"

namespace dasgd {

/// The gradients of `Logistic`, of rows that a `WindowSource` gave; f is over the rows that the
/// window keeps at that moment, so it changes while rows come. The window must outlive this and
/// hold a row.
class LogisticStream final : public Objective<double> {
 public:
  LogisticStream(const RowWindow& window, std::size_t features)
      : window_(window), features_(features) {}

  std::size_t dimension() const override { return features_; }
  /// As many as the window keeps at most.
  std::size_t samples() const override { return window_.places(); }
  double gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const override;
  double full_gradient(std::span<const double> x, std::span<double> gradient) const override;
  /// On the rows that are kept.
  HeldOut evaluate(std::span<const double> x) const override;
  KnownConstants known() const override { return {.least_loss = 0}; }
  std::optional<ArrivalFigures> arrivals() const override;

 private:
  const RowWindow& window_;
  const std::size_t features_;
  mutable Prequential answers_;
};

}  // namespace dasgd
