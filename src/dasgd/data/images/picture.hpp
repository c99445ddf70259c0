// One PNG or JPEG picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dasgd {

/// Pixels of 8 bits, channel after channel, row after row.
struct Picture {
  std::size_t channels = 1, height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};

/// Decodes a picture: grey ones have one channel, all others three. Transparency is laid on black.
/// Throws InputError naming `path` for bytes that are not such a picture, or one of more than 64
/// million pixels.
Picture decode_picture(std::string_view bytes, const std::string& path);

/// The same in another size: every pixel is the mean of what it covers, weighted by a triangle.
Picture resized(const Picture& picture, std::size_t height, std::size_t width);

/// The same with three equal channels, if it has one.
Picture with_colours(Picture picture);

/// Numbers of an image, channel after channel, from black to white: 0 to 255 or 0 to 1 where they
/// lie in there, else from the least to the largest. Of more than three channels the first three
/// are shown, of two the first.
Picture picture_of(std::span<const float> numbers, std::size_t channels, std::size_t height,
                   std::size_t width);

/// The bytes of a PNG file. A picture has one channel or three.
std::string encode_png(const Picture& picture);

}  // namespace dasgd
