// The first images of a data set in one picture.
#pragma once

#include <cstddef>

#include "dasgd/data/images/picture.hpp"
#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// Images in rows of ten, a pixel apart (see picture_of).
struct ImageSheet {
  Picture picture;
  std::size_t images = 0;  ///< that it shows
};
ImageSheet first_images(const RawData& data, std::size_t at_most = 60);

}  // namespace dasgd
