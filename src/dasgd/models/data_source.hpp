// From what names a data set to what it holds.
#pragma once

#include <optional>
#include <string>

#include "dasgd/data/arrays/array_data.hpp"
#include "dasgd/data/images/idx.hpp"
#include "dasgd/data/images/image_folder.hpp"
#include "dasgd/data/raw_data.hpp"
#include "dasgd/data/table_options.hpp"

namespace dasgd {

/// How a config names data that was in memory: "numpy arrays of data, 600 samples".
inline constexpr const char* named_as_arrays = "numpy arrays of ";

/// A data set as it lies there, with a test part where its layout has one.
struct DataSource {
  RawData data;
  std::optional<RawData> test = {};
};

struct SourceOptions {
  TableOptions table = {};
  std::optional<PictureSize> resize = {};  ///< of pictures in folders
  const NamedArrays* arrays = nullptr;     ///< names that lead to memory, before all others
};

enum class DataKind { image_set, image_folder, picture, csv, libsvm, npy, npz, text };

/// What a name or path leads to. Throws InputError for one that leads nowhere, or to a file of
/// another kind that is known by its first bytes: Parquet, Excel, ...
DataKind kind_of_data(const std::string& data);

/// A directory of idx files or of CIFAR-10.
ImageSet read_images(const std::string& directory);

/// Reads rows or images. Throws InputError.
DataSource read_source(const std::string& data, const SourceOptions& options);

}  // namespace dasgd
