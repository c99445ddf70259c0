// The idx format of MNIST and its relatives, plain or gzip-compressed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// Images with a class each.
struct LabelledImages {
  std::size_t channels = 1, height = 0, width = 0;
  std::size_t pixels_per_image = 0;  ///< of all channels
  std::vector<std::uint8_t> pixels;  ///< image after image, channel after channel, row after row
  std::vector<std::uint8_t> labels;  ///< from 0

  std::size_t count() const { return labels.size(); }
};

/// A training set and a test set.
struct ImageSet {
  LabelledImages train, test;
  std::size_t classes = 0;
};

/// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
/// t10k-labels-idx1-ubyte from `directory`, each as it is or with .gz.
/// Throws InputError naming the file for anything missing, truncated or inconsistent.
ImageSet read_idx_directory(const std::string& directory);

/// The same as data of any kind, whose classes have these names.
RawData to_raw(LabelledImages images, std::vector<std::string> classes, const std::string& path);

}  // namespace dasgd
