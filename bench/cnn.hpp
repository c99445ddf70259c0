// The paper's CNN on images of CIFAR-10's size, batch 32.
#pragma once

#include <cstdint>
#include <memory>

#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd::bench {

inline constexpr std::size_t cnn_batch = 32, cnn_images = 4000;

/// Speed does not depend on what images show.
inline std::shared_ptr<const Samples> random_images() {
  static const auto made = [] {
    Random chance(1, Purpose::test);
    LabelledImages set{.channels = 3, .height = 32, .width = 32, .pixels_per_image = 3072};
    for (std::size_t i = 0; i < cnn_images; ++i)
      set.labels.push_back(static_cast<std::uint8_t>(chance.below(10)));
    for (std::size_t p = 0; p < cnn_images * 3072; ++p)
      set.pixels.push_back(static_cast<std::uint8_t>(chance.bits()));
    return image_samples(ImageSet{set, set, 10});
  }();
  return made;
}

inline const Network& cnn() {
  static const auto made = make_network({.model = "cnn", .evaluate_at_most = 32}, random_images());
  return *made;
}

}  // namespace dasgd::bench
