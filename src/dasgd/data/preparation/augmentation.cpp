#include "dasgd/data/preparation/augmentation.hpp"

namespace dasgd {

ImageChange draw_change(const Augmentation& how, Random& chance) {
  ImageChange change{.mirror = how.flip && chance.below(2) == 1};
  if (const auto most = static_cast<std::ptrdiff_t>(how.crop); most > 0) {
    const auto choices = static_cast<std::uint32_t>(2 * most + 1);
    change.down = static_cast<std::ptrdiff_t>(chance.below(choices)) - most;
    change.right = static_cast<std::ptrdiff_t>(chance.below(choices)) - most;
  }
  return change;
}

void augment(const Augmentation& how, Random& chance, const std::vector<std::int64_t>& shape,
             std::span<float> image) {
  const auto [mirror, down, right] = draw_change(how, chance);
  const std::vector<float> before(image.begin(), image.end());
  const std::ptrdiff_t height = shape[1], width = shape[2];
  const float* from = before.data();
  float* to = image.data();
  for (std::int64_t channel = 0; channel < shape[0]; ++channel, from += height * width)
    for (std::ptrdiff_t row = 0; row < height; ++row)
      for (std::ptrdiff_t column = 0; column < width; ++column) {
        const std::ptrdiff_t y = row + down;
        const std::ptrdiff_t x = (mirror ? width - 1 - column : column) + right;
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        *to++ = inside ? from[y * width + x] : 0.0f;
      }
}

}  // namespace dasgd
