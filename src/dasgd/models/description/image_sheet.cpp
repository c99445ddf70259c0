#include "dasgd/models/description/image_sheet.hpp"

#include <algorithm>
#include <vector>

namespace dasgd {
namespace {

constexpr std::size_t in_a_row = 10;

void paste(const Picture& from, Picture& to, std::size_t down, std::size_t right) {
  for (std::size_t c = 0; c < from.channels; ++c)
    for (std::size_t y = 0; y < from.height; ++y)
      std::copy_n(from.pixels.begin() + (c * from.height + y) * from.width, from.width,
                  to.pixels.begin() + (c * to.height + down + y) * to.width + right);
}

}  // namespace

ImageSheet first_images(const RawData& data, std::size_t at_most) {
  const auto channels = static_cast<std::size_t>(data.shape[0]),
             height = static_cast<std::size_t>(data.shape[1]),
             width = static_cast<std::size_t>(data.shape[2]);
  const std::size_t count = std::min(at_most, data.rows());
  ImageSheet sheet{{channels >= 3 ? std::size_t{3} : 1,
                    (count + in_a_row - 1) / in_a_row * (height + 1) - 1,
                    std::min(count, in_a_row) * (width + 1) - 1,
                    {}},
                   count};
  Picture& all = sheet.picture;
  all.pixels.assign(all.channels * all.height * all.width, 128);
  std::vector<float> numbers(data.inputs->width());
  for (std::size_t k = 0; k < count; ++k) {
    data.inputs->copy(k, numbers);
    paste(picture_of(numbers, channels, height, width), all, k / in_a_row * (height + 1),
          k % in_a_row * (width + 1));
  }
  return sheet;
}

}  // namespace dasgd
