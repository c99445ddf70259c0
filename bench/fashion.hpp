// Softmax on Fashion-MNIST, which most figures are taken with.
#pragma once

#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/problems/softmax.hpp"

namespace dasgd::bench {

inline const Softmax& fashion() {
  static const Softmax softmax(
      image_samples(read_idx_directory(locate_data("fashion-mnist")), {.scale = Scale::by_255}));
  return softmax;
}

}  // namespace dasgd::bench
