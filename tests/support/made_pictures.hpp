#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <png.h>
#include <string>
#include <vector>
// After <cstdio>, which it needs.
#include <jpeglib.h>

namespace dasgd::test {

/// Pixels of a grey picture (channels 1) or of one with colours (3), pixel after pixel.
inline void write_png(const std::string& path, std::uint32_t height, std::uint32_t width,
                      int channels, const std::vector<std::uint8_t>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = height;
  image.width = width;
  image.format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr);
}

inline void write_jpeg(const std::string& path, std::uint32_t height, std::uint32_t width,
                       int channels, std::vector<std::uint8_t> pixels) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_height = height;
  jpeg.image_width = width;
  jpeg.input_components = channels;
  jpeg.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < height) {
    JSAMPROW row =
        pixels.data() + jpeg.next_scanline * width * static_cast<std::uint32_t>(channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(file);
}

/// Two classes: `dark` pictures as PNG, `light` ones as JPEG, in colours and in some sizes.
inline void write_picture_folders(const std::string& directory, std::uint32_t each,
                                  std::uint32_t salt = 0) {
  namespace fs = std::filesystem;
  for (const bool light : {false, true}) {
    const std::string folder = directory + (light ? "/light" : "/dark");
    fs::create_directories(folder);
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::uint32_t height = 10 + i % 3, width = 10 + (i + salt) % 2;
      std::vector<std::uint8_t> pixels;
      for (std::uint32_t p = 0; p < 3 * height * width; ++p)
        pixels.push_back(
            static_cast<std::uint8_t>((light ? 120 : 80) + (i * 37 + p * 11 + salt) % 60));
      const std::string name = folder + "/" + std::to_string(1000 + i);
      if (light)
        write_jpeg(name + ".jpg", height, width, 3, pixels);
      else
        write_png(name + ".png", height, width, 3, pixels);
    }
  }
}

}  // namespace dasgd::test
