// A few images with what a model says they are, for a person to look at.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dasgd/data/images/picture.hpp"

namespace dasgd {

struct ShownSample {
  Picture picture;
  std::string label, answer;
  double probability = 0;  ///< of the label, as the model sees it
};

/// A model whose samples are images.
class ShowsSamples {
 public:
  virtual ~ShowsSamples() = default;
  /// The first samples of a part that was held out, or of the training part where none was; none
  /// where samples are not images of classes.
  virtual std::vector<ShownSample> shown(std::span<const float> x, std::size_t at_most) const = 0;
};

}  // namespace dasgd
