#include "dasgd/models/data_source.hpp"

#include <filesystem>
#include <fstream>

#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/images/cifar10.hpp"
#include "dasgd/data/rows/libsvm.hpp"

namespace dasgd {
namespace {

// LIBSVM text has no commas, and CSV has some in its first line.
bool has_commas(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.find_first_not_of(" \t\r") == line.npos) {
  }
  line = line.substr(0, line.find('#'));
  return line.find(',') != line.npos;
}

DataSource read_image_source(const std::string& path) {
  ImageSet set = read_images(path);
  std::vector<std::string> classes;
  for (std::size_t c = 0; c < set.classes; ++c) classes.push_back(std::to_string(c));
  return {to_raw(std::move(set.train), classes, path), to_raw(std::move(set.test), classes, path)};
}

}  // namespace

DataKind kind_of_data(const std::string& data) {
  const std::string path = locate_data(data);
  if (std::filesystem::is_directory(path)) return DataKind::images;
  if (path.ends_with(".txt")) return DataKind::text;
  if (path.ends_with(".csv") || path.ends_with(".tsv")) return DataKind::csv;
  return has_commas(path) ? DataKind::csv : DataKind::libsvm;
}

ImageSet read_images(const std::string& directory) {
  return is_cifar10_directory(directory) ? read_cifar10_directory(directory)
                                         : read_idx_directory(directory);
}

DataSource read_source(const std::string& data, const TableOptions& options) {
  const std::string path = locate_data(data);
  switch (kind_of_data(data)) {
    case DataKind::images:
      return read_image_source(path);
    case DataKind::csv:
      return {read_csv(path, options)};
    case DataKind::libsvm:
      return {dense(read_libsvm_any(path), path, options.like ? options.like->width() : 0)};
    case DataKind::text:
      break;
  }
  throw InputError(path + ": is a text; `model` char-transformer reads it");
}

}  // namespace dasgd
