#include "dasgd/data/images/image_samples.hpp"

#include <utility>

namespace dasgd {
namespace {

DataPart image_part(LabelledImages images, const std::vector<std::string>& classes) {
  DataPart part;
  RawData raw = to_raw(std::move(images), classes, "images");
  part.targets = std::make_shared<const std::vector<double>>(std::move(raw.labels.values));
  part.data = std::make_shared<const RawData>(std::move(raw));
  part.from = "images";
  return part;
}

}  // namespace

std::shared_ptr<const PreparedSamples> image_samples(ImageSet images,
                                                     PreparedSamples::Options options) {
  DataParts parts;
  for (std::size_t c = 0; c < images.classes; ++c) parts.classes.push_back(std::to_string(c));
  parts[Part::train] = image_part(std::move(images.train), parts.classes);
  if (images.test.count() > 0)
    parts[Part::validation] = image_part(std::move(images.test), parts.classes);
  return std::make_shared<const PreparedSamples>(std::move(parts), std::move(options));
}

}  // namespace dasgd
