#include "dasgd/models/read_data.hpp"

#include <filesystem>

#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/images/cifar10.hpp"
#include "dasgd/data/rows/table_samples.hpp"
#include "dasgd/data/text_samples.hpp"

namespace dasgd {
namespace {

constexpr std::size_t text_window = 64;

}  // namespace

ImageSet read_images(const std::string& directory) {
  return is_cifar10_directory(directory) ? read_cifar10_directory(directory)
                                         : read_idx_directory(directory);
}

std::shared_ptr<const Samples> read_samples(const ProblemChoice& choice) {
  if (choice.data.empty())
    throw InputError("`model` " + choice.model + " needs `data`; see: dasgd data list");
  const std::string path = locate_data(choice.data);
  if (std::filesystem::is_directory(path))
    return std::make_shared<ImageSamples>(read_images(path),
                                          choice.augment.value_or(Augmentation{}));
  if (choice.augment)
    throw InputError("`augment` is for images; " + path + " is not a directory of images");
  if (choice.model == "char-transformer" || path.ends_with(".txt"))
    return std::make_shared<TextSamples>(read_text_samples(path, text_window));
  const bool classes = choice.loss != NetworkLoss::mean_squared_error;
  return std::make_shared<TableSamples>(
      path.ends_with(".csv") ? read_csv(path) : dense(read_libsvm(path), path), classes, path);
}

}  // namespace dasgd
