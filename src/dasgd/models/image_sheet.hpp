// The first images of a data set in one picture.
#pragma once

#include <cstddef>
#include <span>

#include "dasgd/data/images/picture.hpp"
#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// Images in rows of ten, a pixel apart. Bytes stay what they are; other numbers are spread from
/// black to white. Of more than three channels the first three are shown, of two the first.
struct ImageSheet {
  Picture picture;
  std::size_t images = 0;  ///< that it shows
};
ImageSheet first_images(const RawData& data, std::size_t at_most = 60);

}  // namespace dasgd
