// Softmax regression on the rows of a stream.
#pragma once

#include "dasgd/core/objective.hpp"
#include "dasgd/data/stream/prequential.hpp"
#include "dasgd/data/stream/row_preprocessing.hpp"
#include "dasgd/data/stream/row_window.hpp"
#include "dasgd/problems/softmax_terms.hpp"

namespace dasgd {

/// The gradients of `Softmax`, of rows that a `WindowSource` gave, their numbers as they are; f is
/// over the rows that the window keeps at that moment, so it changes while rows come. The window
/// must outlive this and hold a row.
class SoftmaxStream final : public Objective<float>, public Preprocessed {
 public:
  SoftmaxStream(const RowWindow& window, std::size_t features, std::size_t classes)
      : window_(window),
        features_(features),
        preprocessing_(row_preprocessing(features, numbered_classes(classes), Answers::scores)),
        classifier_{classes} {}

  std::size_t dimension() const override { return (features_ + 1) * classifier_.classes; }
  /// As many as the window keeps at most.
  std::size_t samples() const override { return window_.places(); }
  double gradient(std::span<const float> x, Rows rows, std::span<float> gradient) const override;
  double full_gradient(std::span<const float> x, std::span<float> gradient) const override;
  double loss(std::span<const float> x) const override;
  /// On the rows that are kept.
  HeldOut evaluate(std::span<const float> x) const override;
  KnownConstants known() const override { return {.least_loss = 0}; }
  std::optional<ArrivalFigures> arrivals() const override;
  const Preprocessing* preprocessing() const override { return &preprocessing_; }

 private:
  const RowWindow& window_;
  const std::size_t features_;
  const Preprocessing preprocessing_;
  mutable Prequential answers_;
  const softmax::Classifier classifier_;
};

}  // namespace dasgd
