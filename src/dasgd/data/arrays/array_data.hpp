// Data sets in .npy and .npz files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "dasgd/data/arrays/npy.hpp"
#include "dasgd/data/raw_data.hpp"
#include "dasgd/data/table_options.hpp"

namespace dasgd {

/// Rows of an array with two dimensions and one column for the label; or inputs of any shape with
/// their labels in a second file: whole numbers, other numbers or texts. Images stand as (count,
/// height, width), (count, channels, height, width) or with 1, 3 or 4 channels last. Arrays are
/// mapped, not read: they may be larger than memory. Throws InputError.
RawData read_npy(const std::string& inputs, const std::optional<std::string>& labels,
                 const TableOptions& options);

/// Inputs and, where they are not a column of these, labels.
struct ArrayPair {
  NpyArray inputs;
  std::optional<NpyArray> labels = {};
};
/// Arrays that are in memory already, by the name of their data set.
using NamedArrays = std::map<std::string, ArrayPair>;

/// The same of arrays that are open.
RawData read_arrays(const ArrayPair& arrays, const TableOptions& options);

/// The arrays `x` and `y` of an archive, or `x_train`, `y_train` and, for testing, `x_test` and
/// `y_test`; upper case, `data`, `images`, `inputs` and `features` for x, `labels`, `label` and
/// `target` for y do as well. One that is alone is as a .npy file without labels. Throws
/// InputError.
std::pair<RawData, std::optional<RawData>> read_npz(const std::string& path,
                                                    const TableOptions& options);

}  // namespace dasgd
