// Rows and images as models take them: scaled, and changed at random where that is wanted.
#pragma once

#include "dasgd/data/preparation/augmentation.hpp"
#include "dasgd/data/preparation/data_parts.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd {

class PreparedSamples final : public Samples {
 public:
  struct Options {
    Scale scale = Scale::standard;
    Missing missing = Missing::error;
    Answers answers = Answers::scores;
    Augmentation augmentation = {};
    bool resize = false;                    ///< pictures were brought to one size
    std::vector<float> class_weights = {};  ///< one per class; empty: all weigh 1
  };
  /// Scales by the training part. Throws InputError for numbers that are missing where none may be.
  PreparedSamples(DataParts parts, Options options);
  /// With a preprocessing that is known already.
  PreparedSamples(DataParts parts, Preprocessing preprocessing, Options options);

  const SampleFormat& format() const override { return format_; }
  const Preprocessing* preprocessing() const override { return &preprocessing_; }
  std::size_t count(Part part) const override { return parts_[part].count(); }
  std::vector<std::uint32_t> labels(Part part) const override;
  std::string origin(Part part) const override { return parts_[part].from; }
  const Augmentation* augmentation() const override {
    return options_.augmentation.changes() ? &options_.augmentation : nullptr;
  }
  void gather(Part part, Rows rows, Random* chance, SampleBatch& batch) const override;

  /// These samples are copied next: they may come from the disk together.
  void fetch(Part part, Rows rows) const;
  /// One sample without its target, and that, in the units of the data.
  void copy(Part part, std::size_t place, std::span<float> to) const;
  double target(Part part, std::size_t place) const { return parts_[part].target(place); }
  /// How much a sample of this class counts in the loss.
  float weight(std::size_t label) const {
    return options_.class_weights.empty() ? 1.0f : options_.class_weights[label];
  }
  const DataParts& parts() const { return parts_; }

 private:
  const DataParts parts_;
  const Options options_;
  Preprocessing preprocessing_;
  SampleFormat format_;
};

/// A model that has such samples.
class HoldsSamples {
 public:
  virtual ~HoldsSamples() = default;
  /// Null where its samples are something else.
  virtual const PreparedSamples* prepared() const = 0;
};

/// What is to be found out about the numbers of these parts before they are fitted.
Preprocessing open_preprocessing(const DataParts& parts, const PreparedSamples::Options& options);

}  // namespace dasgd
