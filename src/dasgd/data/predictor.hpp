// A trained model that answers on raw samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dasgd/data/preprocessing.hpp"

namespace dasgd {

/// One prediction.
struct Answer {
  double number = 0;                  ///< of a model whose answers are numbers
  std::size_t best = 0;               ///< the class; the first of those that are equally probable
  std::vector<double> probabilities;  ///< of the classes
};

/// Used by one thread.
class Predictor {
 public:
  virtual ~Predictor() = default;

  virtual const Preprocessing& preprocessing() const = 0;
  /// Outputs of `count` raw samples of this shape, side by side. Throws InputError for samples that
  /// the model cannot take.
  virtual std::vector<float> outputs(std::span<const float> raw, std::size_t count,
                                     const std::vector<std::int64_t>& shape) = 0;
};

/// What the outputs for one sample mean.
Answer read_answer(std::span<const float> outputs, Answers answers);

}  // namespace dasgd
