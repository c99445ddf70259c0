#include "fetch/png_strip.hpp"

#include <png.h>
#include <stdexcept>

namespace dasgd::app {

std::vector<std::uint8_t> read_png(const std::string& path, std::uint32_t width,
                                   std::uint32_t height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto fail = [&](const std::string& why) {
    png_image_free(&image);
    throw std::runtime_error(path + ": " + why);
  };
  if (!png_image_begin_read_from_file(&image, path.c_str())) fail(image.message);
  if (image.width != width || image.height != height)
    fail("is a picture of another size than expected");
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr)) fail(image.message);
  return pixels;
}

}  // namespace dasgd::app
