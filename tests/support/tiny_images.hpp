#pragma once

#include <cstdint>
#include <string>

#include "dasgd/data/images/cifar10.hpp"
#include "dasgd/data/images/idx.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::test {

/// Colour images whose class shows in which rows are bright: easy to learn.
inline LabelledImages tiny_images(std::size_t count, std::size_t side, std::size_t classes,
                                  std::size_t salt) {
  LabelledImages images{.channels = 3, .height = side, .width = side};
  images.pixels_per_image = 3 * side * side;
  for (std::size_t i = 0; i < count; ++i) {
    images.labels.push_back(static_cast<std::uint8_t>(i % classes));
    for (std::size_t p = 0; p < images.pixels_per_image; ++p) {
      const bool bright = (p / side) % classes == i % classes;
      images.pixels.push_back(
          static_cast<std::uint8_t>((bright ? 160 : 20) + (i * 31 + p * 17 + salt) % 60));
    }
  }
  return images;
}

inline ImageSet tiny_image_set(std::size_t side = 32, std::size_t classes = 10,
                               std::size_t train = 200, std::size_t test = 50) {
  return {tiny_images(train, side, classes, 0), tiny_images(test, side, classes, 7), classes};
}

/// The official layout of CIFAR-10 with fewer images.
inline void write_tiny_cifar10(const TemporaryDirectory& directory, std::size_t per_file = 100) {
  for (const Cifar10File& file : cifar10_files) {
    const LabelledImages images = tiny_images(per_file, 32, 10, file.name[11]);
    std::string bytes;
    for (std::size_t i = 0; i < images.count(); ++i) {
      bytes += static_cast<char>(images.labels[i]);
      const auto* const first = images.pixels.data() + i * images.pixels_per_image;
      bytes.append(reinterpret_cast<const char*>(first), images.pixels_per_image);
    }
    directory.write(file.name, bytes);
  }
}

}  // namespace dasgd::test
