// Logistic regression on the rows of a stream.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/stream/prequential.hpp"
#include "dasgd/data/stream/row_preprocessing.hpp"
#include "dasgd/data/stream/row_window.hpp"

namespace dasgd {

/// The gradients of `Logistic`, of rows that a `WindowSource` gave; f is over the rows that the
/// window keeps at that moment, so it changes while rows come. The window must outlive this and
/// hold a row.
class LogisticStream final : public Objective<double>, public Preprocessed {
 public:
  /// `classes`: how the rows write -1 and +1.
  LogisticStream(const RowWindow& window, std::size_t features,
                 std::vector<std::string> classes = {"-1", "1"})
      : window_(window),
        features_(features),
        preprocessing_(row_preprocessing(features, std::move(classes), Answers::margin)) {}

  std::size_t dimension() const override { return features_; }
  /// As many as the window keeps at most.
  std::size_t samples() const override { return window_.places(); }
  double gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const override;
  double full_gradient(std::span<const double> x, std::span<double> gradient) const override;
  /// On the rows that are kept.
  HeldOut evaluate(std::span<const double> x) const override;
  KnownConstants known() const override { return {.least_loss = 0}; }
  std::optional<ArrivalFigures> arrivals() const override;
  const Preprocessing* preprocessing() const override { return &preprocessing_; }

 private:
  const RowWindow& window_;
  const std::size_t features_;
  const Preprocessing preprocessing_;
  mutable Prequential answers_;
};

}  // namespace dasgd
