// Softmax on Fashion-MNIST, which most figures are taken with.
#pragma once

#include "dasgd/data/catalogue.hpp"
#include "dasgd/problems/softmax.hpp"

namespace dasgd::bench {

inline const Softmax& fashion() {
  static const Softmax softmax(read_idx_directory(locate_data("fashion-mnist")));
  return softmax;
}

}  // namespace dasgd::bench
