// Folders of pictures, one for each class.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// Height and width that pictures are brought to.
struct PictureSize {
  std::size_t height = 0, width = 0;
};

/// "32" or "32x48": height x width. Throws InputError.
PictureSize parse_picture_size(const std::string& text);
std::string to_string(PictureSize size);

struct FolderOptions {
  std::optional<PictureSize> resize = {};    ///< nothing: all must have one size
  std::optional<std::size_t> channels = {};  ///< nothing: one if all are grey, else three
};

/// Whether a path leads to a PNG or JPEG picture, by its name.
bool is_picture_file(const std::string& path);
/// Whether a directory holds PNG or JPEG pictures, itself or in its folders.
bool is_image_folder(const std::string& directory);
/// The folder of that part in a directory that has a folder `train`; nothing where it has none.
std::optional<std::string> part_folder(const std::string& directory, const std::string& part);

/// Reads all pictures with all cores, class by class and file by file in the order of their names.
/// Pictures beside the folders, where there are no folders, have no labels; nor has one whose path
/// is given itself. Throws InputError.
RawData read_image_folder(const std::string& directory, const FolderOptions& options);

}  // namespace dasgd
