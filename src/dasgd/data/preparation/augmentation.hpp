// Changes that leave an image what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/random/random.hpp"

namespace dasgd {

struct Augmentation {
  bool flip = false;     ///< left and right, every second time
  std::size_t crop = 0;  ///< moved by up to so many pixels each way, the border black

  bool changes() const { return flip || crop > 0; }
};

/// What happens to one image.
struct ImageChange {
  bool mirror = false;
  std::ptrdiff_t down = 0, right = 0;  ///< where it is taken from
};
ImageChange draw_change(const Augmentation& how, Random& chance);

/// Changes a raw image of this shape (channels, height, width) as `chance` says.
void augment(const Augmentation& how, Random& chance, const std::vector<std::int64_t>& shape,
             std::span<float> image);

}  // namespace dasgd
