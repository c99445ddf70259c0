// What networks train on: samples of any kind, gathered into batches of numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/held_out.hpp"
#include "dasgd/data/part.hpp"
#include "dasgd/data/preprocessing.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

/// Some samples, side by side. Buffers keep their memory from batch to batch.
struct SampleBatch {
  std::size_t count = 0;
  std::vector<float> inputs;         ///< sample after sample; or, where inputs are characters,
  std::vector<std::int64_t> tokens;  ///< their numbers
  std::vector<std::int64_t> labels;  ///< classes; or, where targets are real,
  std::vector<float> values;         ///< those
  std::vector<float> weights;        ///< of the samples in the loss; empty: all weigh 1
};

/// The shape of one sample.
struct SampleFormat {
  std::vector<std::int64_t> input;  ///< {3, 32, 32} for an image, {8} for a row, {64} for text
  bool tokens = false;              ///< inputs are numbers of characters
  std::size_t classes = 0;          ///< 0: targets are real
  std::size_t targets = 1;          ///< per sample: one, or one per character

  /// "3 x 32 x 32".
  std::string input_shape() const;
};

struct Augmentation;

/// A data set in parts, of which only that for training must hold samples. Any number of threads
/// may gather at the same time.
class Samples : public Preprocessed {
 public:
  using Rows = std::span<const std::uint32_t>;
  virtual const SampleFormat& format() const = 0;
  virtual std::size_t count(Part part) const = 0;
  /// The class of every sample of a part; empty where they have none.
  virtual std::vector<std::uint32_t> labels(Part) const { return {}; }
  /// Where the samples of a part come from, in words.
  virtual std::string origin(Part part) const = 0;
  /// What `gather` does to images of the training part; null: nothing.
  virtual const Augmentation* augmentation() const { return nullptr; }
  /// Writes the samples of `rows`. Augmentation, where there is any, draws from `chance`; null: the
  /// samples as they are.
  virtual void gather(Part part, Rows rows, Random* chance, SampleBatch& batch) const = 0;

  /// Rows that a batch may name: more than there are now, where samples arrive.
  virtual std::size_t places() const { return count(Part::train); }
  /// Where samples arrive while a run goes: how many, and how well they were answered ...
  virtual std::optional<ArrivalFigures> arrivals() const { return std::nullopt; }
  /// ... before they were learned from: this many rightly.
  virtual void answered(std::size_t /*right*/, std::size_t /*samples*/) const {}
};

inline std::string SampleFormat::input_shape() const {
  std::string text;
  for (const std::int64_t size : input) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

}  // namespace dasgd
