#include "dasgd/models/image_sheet.hpp"

#include <algorithm>
#include <cmath>

namespace dasgd {
namespace {

constexpr std::size_t in_a_row = 10;

// What is shown black and white.
std::pair<float, float> range_of(const std::vector<float>& numbers) {
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  if (*least >= 0 && *most > 1 && *most <= 255) return {0.0F, 255.0F};
  if (*least >= 0 && *most <= 1) return {0.0F, 1.0F};
  return {*least, *most};
}

}  // namespace

ImageSheet first_images(const RawData& data, std::size_t at_most) {
  const auto height = static_cast<std::size_t>(data.shape[1]),
             width = static_cast<std::size_t>(data.shape[2]);
  const std::size_t channels = data.shape[0] >= 3 ? 3 : 1;
  const std::size_t count = std::min(at_most, data.rows()), size = data.inputs->width();
  std::vector<float> numbers(count * size);
  for (std::size_t k = 0; k < count; ++k)
    data.inputs->copy(k, std::span(numbers).subspan(k * size, size));
  std::replace_if(
      numbers.begin(), numbers.end(), [](float x) { return std::isnan(x); }, 0.0F);
  const auto [black, white] = range_of(numbers);

  ImageSheet sheet{{channels,
                    (count + in_a_row - 1) / in_a_row * (height + 1) - 1,
                    std::min(count, in_a_row) * (width + 1) - 1,
                    {}},
                   count};
  Picture& picture = sheet.picture;
  picture.pixels.assign(channels * picture.height * picture.width, 128);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
          const float number = numbers[k * size + (c * height + y) * width + x];
          const std::size_t down = k / in_a_row * (height + 1) + y,
                            right = k % in_a_row * (width + 1) + x;
          picture.pixels[(c * picture.height + down) * picture.width + right] =
              static_cast<std::uint8_t>(
                  std::lround(255 * (number - black) / std::max(white - black, 1e-30F)));
        }
  return sheet;
}

}  // namespace dasgd
