#include "dasgd/data/images/image_samples.hpp"

#include <cmath>

namespace dasgd {

ImageSamples::ImageSamples(ImageSet images, Augmentation augmentation)
    : set_(std::move(images)), augmentation_(augmentation) {
  const LabelledImages& train = set_.train;
  format_.input = {static_cast<std::int64_t>(train.channels),
                   static_cast<std::int64_t>(train.height), static_cast<std::int64_t>(train.width)};
  format_.classes = set_.classes;
  const std::size_t plane = train.height * train.width;
  for (std::size_t c = 0; c < train.channels; ++c) {
    std::uint64_t sum = 0, squares = 0;
    for (std::size_t first = c * plane; first < train.pixels.size();
         first += train.pixels_per_image)
      for (std::size_t p = first; p < first + plane; ++p) {
        sum += train.pixels[p];
        squares += std::uint32_t{train.pixels[p]} * train.pixels[p];
      }
    const auto n = static_cast<double>(train.count() * plane);
    const double mean = static_cast<double>(sum) / n;
    const double variance = static_cast<double>(squares) / n - mean * mean;
    const double deviation = variance > 1e-6 ? std::sqrt(variance) : 1;
    scales_.push_back({static_cast<float>(1 / deviation), static_cast<float>(-mean / deviation)});
  }
}

void ImageSamples::gather(Split split, Rows rows, Random* chance, SampleBatch& batch) const {
  const LabelledImages& from = images(split);
  const std::size_t pixels = from.pixels_per_image;
  batch.count = rows.size();
  batch.inputs.resize(rows.size() * pixels);
  batch.labels.resize(rows.size());
  const bool changes = chance && (augmentation_.flip || augmentation_.crop > 0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::uint8_t* const image = from.pixels.data() + rows[r] * pixels;
    float* const to = batch.inputs.data() + r * pixels;
    if (changes) {
      copy_changed(image, to, draw(*chance));
    } else {
      copy(image, to);
    }
    batch.labels[r] = from.labels[rows[r]];
  }
}

ImageSamples::Change ImageSamples::draw(Random& chance) const {
  Change change;
  if (augmentation_.flip) change.flip = chance.below(2) == 1;
  if (const auto most = static_cast<std::ptrdiff_t>(augmentation_.crop); most > 0) {
    const auto choices = static_cast<std::uint32_t>(2 * most + 1);
    change.down = static_cast<std::ptrdiff_t>(chance.below(choices)) - most;
    change.right = static_cast<std::ptrdiff_t>(chance.below(choices)) - most;
  }
  return change;
}

void ImageSamples::copy(const std::uint8_t* from, float* to) const {
  const std::size_t plane = set_.train.height * set_.train.width;
  for (const Scale scale : scales_) {
    for (std::size_t p = 0; p < plane; ++p)
      to[p] = static_cast<float>(from[p]) * scale.factor + scale.offset;
    from += plane;
    to += plane;
  }
}

void ImageSamples::copy_changed(const std::uint8_t* from, float* to, Change change) const {
  const auto height = static_cast<std::ptrdiff_t>(set_.train.height);
  const auto width = static_cast<std::ptrdiff_t>(set_.train.width);
  for (const Scale scale : scales_) {
    for (std::ptrdiff_t row = 0; row < height; ++row)
      for (std::ptrdiff_t column = 0; column < width; ++column) {
        const std::ptrdiff_t y = row + change.down;
        const std::ptrdiff_t x = (change.flip ? width - 1 - column : column) + change.right;
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        const auto pixel = inside ? static_cast<float>(from[y * width + x]) : 0.0f;
        *to++ = pixel * scale.factor + scale.offset;
      }
    from += height * width;
  }
}

}  // namespace dasgd
