#include "samples.hpp"

#include <filesystem>

#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/cifar10.hpp"
#include "dasgd/data/image_samples.hpp"
#include "dasgd/data/table_samples.hpp"
#include "dasgd/data/text_samples.hpp"
#include "units.hpp"

namespace dasgd::app {
namespace {

constexpr std::size_t text_window = 64;

Augmentation augmentation(const std::string& text) {
  Augmentation result;
  if (text.empty()) return result;
  for (const std::string& word : split(text, ',')) {
    if (word == "flip") {
      result.flip = true;
    } else if (word == "crop") {
      result.crop = 4;
    } else {
      throw InputError("--augment " + text + ": \"" + word + "\" is neither flip nor crop");
    }
  }
  return result;
}

}  // namespace

ImageSet read_images(const std::string& directory) {
  return is_cifar10_directory(directory) ? read_cifar10_directory(directory)
                                         : read_idx_directory(directory);
}

std::shared_ptr<const Samples> read_samples(const Config& config) {
  if (config.data.empty())
    throw InputError("--model " + config.model + " needs --data; see: dasgd data list");
  const Augmentation changes = augmentation(config.augment);
  const std::string path = locate_data(config.data);
  if (std::filesystem::is_directory(path))
    return std::make_shared<ImageSamples>(read_images(path), changes);
  if (!config.augment.empty())
    throw InputError("--augment is for images; " + path + " is not a directory of images");
  if (config.model == "char-transformer" || path.ends_with(".txt"))
    return std::make_shared<TextSamples>(read_text_samples(path, text_window));
  const bool classes = config.loss != "mse";
  return std::make_shared<TableSamples>(
      path.ends_with(".csv") ? read_csv(path) : dense(read_libsvm(path), path), classes, path);
}

}  // namespace dasgd::app
