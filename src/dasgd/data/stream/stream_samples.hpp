// The rows of a stream as networks take them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "dasgd/data/samples.hpp"
#include "dasgd/data/stream/prequential.hpp"
#include "dasgd/data/stream/row_preprocessing.hpp"
#include "dasgd/data/stream/row_window.hpp"

namespace dasgd {

/// The training part is what the window keeps at that moment; there is no other. Numbers are taken
/// as they are. The window must outlive this and hold a row.
class StreamSamples final : public Samples {
 public:
  /// `from`: where its rows come from, in words.
  StreamSamples(const RowWindow& window, std::size_t features, std::size_t classes,
                std::string from)
      : window_(window),
        from_(std::move(from)),
        preprocessing_(row_preprocessing(features, numbered_classes(classes), Answers::scores)) {
    format_.input = preprocessing_.shape;
    format_.classes = classes;
  }

  const SampleFormat& format() const override { return format_; }
  const Preprocessing* preprocessing() const override { return &preprocessing_; }
  std::size_t count(Part part) const override {
    return part == Part::train ? window_.figures().kept : 0;
  }
  std::size_t places() const override { return window_.places(); }
  std::string origin(Part) const override { return from_; }
  void gather(Part, Rows rows, Random*, SampleBatch& batch) const override {
    const auto width = static_cast<std::size_t>(format_.input[0]);
    const auto taken = window_.at(rows);
    batch.count = rows.size();
    batch.inputs.resize(rows.size() * width);
    batch.labels.resize(rows.size());
    for (std::size_t k = 0; k < taken.size(); ++k) {
      copy_row(*taken[k], std::span(batch.inputs).subspan(k * width, width));
      batch.labels[k] = static_cast<std::int64_t>(taken[k]->label);
    }
  }
  std::optional<ArrivalFigures> arrivals() const override {
    ArrivalFigures figures = window_.figures();
    figures.prequential = answers_.accuracy();
    return figures;
  }
  void answered(std::size_t right, std::size_t samples) const override {
    answers_.add(right, samples);
  }

 private:
  const RowWindow& window_;
  const std::string from_;
  SampleFormat format_;
  const Preprocessing preprocessing_;
  mutable Prequential answers_;
};

}  // namespace dasgd
