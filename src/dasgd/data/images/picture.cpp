#include "dasgd/data/images/picture.hpp"

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <png.h>
#include <stdexcept>
// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

constexpr std::size_t most_pixels = std::size_t{1} << 26;

[[noreturn]] void refuse_picture(const std::string& path, const std::string& why) {
  throw InputError(path + ": " + why);
}

void require_possible(std::size_t height, std::size_t width, const std::string& path) {
  if (height == 0 || width == 0 || height > most_pixels / width)
    refuse_picture(path, "has an impossible size");
}

// From pixel after pixel to channel after channel.
Picture to_planes(const std::vector<std::uint8_t>& mixed, std::size_t channels, std::size_t height,
                  std::size_t width) {
  Picture picture{channels, height, width, {}};
  const std::size_t plane = height * width;
  picture.pixels.resize(channels * plane);
  for (std::size_t p = 0; p < plane; ++p)
    for (std::size_t c = 0; c < channels; ++c)
      picture.pixels[c * plane + p] = mixed[p * channels + c];
  return picture;
}

Picture decode_png(std::string_view bytes, const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  struct Free {
    png_image& image;
    ~Free() { png_image_free(&image); }
  } const free_at_end{image};
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
    refuse_picture(path, "is a broken PNG picture");
  require_possible(image.height, image.width, path);
  const bool colours = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  image.format = colours ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  std::vector<std::uint8_t> mixed(PNG_IMAGE_SIZE(image));
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&image, &black, mixed.data(), 0, nullptr))
    refuse_picture(path, "is a broken PNG picture");
  return to_planes(mixed, colours ? 3 : 1, image.height, image.width);
}

/// libjpeg calls these where something is wrong; it must not return from the first.
struct JpegErrors {
  jpeg_error_mgr manager;  // first: libjpeg knows only this
  std::jmp_buf back;
};

[[noreturn]] void leave_jpeg(j_common_ptr common) {
  std::longjmp(reinterpret_cast<JpegErrors*>(common->err)->back, 1);
}
void ignore_message(j_common_ptr, int) {}

// Everything that needs a destructor lives in the caller: longjmp passes over this frame.
bool read_jpeg(std::string_view bytes, jpeg_decompress_struct& jpeg, JpegErrors& errors,
               std::vector<std::uint8_t>& mixed, bool& too_large) {
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = leave_jpeg;
  errors.manager.emit_message = ignore_message;
  if (setjmp(errors.back) != 0) return false;
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  too_large = jpeg.image_height == 0 || jpeg.image_width == 0 ||
              jpeg.image_height > most_pixels / jpeg.image_width;
  if (too_large) return false;
  jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  const std::size_t line =
      std::size_t{jpeg.output_width} * static_cast<std::size_t>(jpeg.output_components);
  mixed.resize(line * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = mixed.data() + jpeg.output_scanline * line;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

Picture decode_jpeg(std::string_view bytes, const std::string& path) {
  jpeg_decompress_struct jpeg{};
  JpegErrors errors{};
  std::vector<std::uint8_t> mixed;
  bool too_large = false;
  const bool good = read_jpeg(bytes, jpeg, errors, mixed, too_large);
  const std::size_t height = jpeg.output_height, width = jpeg.output_width;
  const auto channels = static_cast<std::size_t>(std::max(0, jpeg.output_components));
  jpeg_destroy_decompress(&jpeg);
  if (too_large) refuse_picture(path, "has an impossible size");
  if (!good) refuse_picture(path, "is a JPEG picture that is broken or not in RGB");
  return to_planes(mixed, channels, height, width);
}

/// The weights of the old pixels in each new one, along one side.
struct Blend {
  std::size_t first = 0;
  std::vector<float> weights;
};

std::vector<Blend> blends(std::size_t from, std::size_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(1.0, ratio);
  std::vector<Blend> result;
  for (std::size_t k = 0; k < to; ++k) {
    const double centre = (static_cast<double>(k) + 0.5) * ratio;
    const auto first = static_cast<std::size_t>(std::max(0.0, std::floor(centre - reach)));
    const auto last = std::min(from, static_cast<std::size_t>(std::ceil(centre + reach)));
    Blend blend{first, {}};
    double sum = 0;
    for (std::size_t p = first; p < last; ++p) {
      const double distance = std::fabs(static_cast<double>(p) + 0.5 - centre) / reach;
      const double weight = std::max(0.0, 1 - distance);
      blend.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : blend.weights) weight /= static_cast<float>(sum);
    result.push_back(std::move(blend));
  }
  return result;
}

}  // namespace

Picture decode_picture(std::string_view bytes, const std::string& path) {
  if (bytes.starts_with("\x89PNG")) return decode_png(bytes, path);
  if (bytes.starts_with("\xFF\xD8")) return decode_jpeg(bytes, path);
  refuse_picture(path, "is neither a PNG nor a JPEG picture");
}

Picture resized(const Picture& from, std::size_t height, std::size_t width) {
  if (from.height == height && from.width == width) return from;
  Picture to{from.channels, height, width, {}};
  to.pixels.resize(to.channels * height * width);
  const auto down = blends(from.height, height), right = blends(from.width, width);
  std::vector<float> lines(from.height * width);  // with their new width
  for (std::size_t c = 0; c < from.channels; ++c) {
    const std::uint8_t* const plane = from.pixels.data() + c * from.height * from.width;
    for (std::size_t y = 0; y < from.height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        float sum = 0;
        for (std::size_t k = 0; k < right[x].weights.size(); ++k)
          sum += right[x].weights[k] * plane[y * from.width + right[x].first + k];
        lines[y * width + x] = sum;
      }
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        float sum = 0;
        for (std::size_t k = 0; k < down[y].weights.size(); ++k)
          sum += down[y].weights[k] * lines[(down[y].first + k) * width + x];
        to.pixels[(c * height + y) * width + x] =
            static_cast<std::uint8_t>(std::clamp(std::lround(sum), 0L, 255L));
      }
  }
  return to;
}

Picture with_colours(Picture picture) {
  if (picture.channels == 3) return picture;
  const std::vector<std::uint8_t> grey = picture.pixels;
  for (int copy = 0; copy < 2; ++copy)
    picture.pixels.insert(picture.pixels.end(), grey.begin(), grey.end());
  picture.channels = 3;
  return picture;
}

Picture picture_of(std::span<const float> numbers, std::size_t channels, std::size_t height,
                   std::size_t width) {
  Picture picture{channels >= 3 ? std::size_t{3} : 1, height, width, {}};
  const auto known = [](float number) { return std::isnan(number) ? 0.0F : number; };
  float black = 0, white = 1;
  for (const float number : numbers) {
    black = std::min(black, known(number));
    white = std::max(white, known(number));
  }
  if (black == 0 && white > 1 && white <= 255) white = 255;
  for (const float number : numbers.first(picture.channels * height * width))
    picture.pixels.push_back(
        static_cast<std::uint8_t>(std::lround(255 * (known(number) - black) / (white - black))));
  return picture;
}

std::string encode_png(const Picture& picture) {
  const std::size_t plane = picture.height * picture.width;
  std::vector<std::uint8_t> mixed;
  for (std::size_t p = 0; p < plane; ++p)
    for (std::size_t c = 0; c < picture.channels; ++c)
      mixed.push_back(picture.pixels[c * plane + p]);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = picture.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, mixed.data(), 0, nullptr))
    throw std::runtime_error(std::string("cannot write the picture: ") + image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace dasgd
