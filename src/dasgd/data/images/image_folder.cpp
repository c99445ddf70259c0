#include "dasgd/data/images/image_folder.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <thread>
#include <vector>

#include "dasgd/base/files/mapped_file.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/images/picture.hpp"

namespace dasgd {
namespace fs = std::filesystem;
namespace {

bool has_picture_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// In the order of their names, which no file system promises.
std::vector<fs::path> sorted_entries(const fs::path& directory) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<fs::path> pictures_in(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const fs::path& path : sorted_entries(directory))
    if (has_picture_ending(path)) found.push_back(path);
  return found;
}

struct Listing {
  std::vector<fs::path> files;
  std::vector<double> labels;
  std::vector<std::string> classes;
};

Listing list_pictures(const std::string& directory) {
  Listing all;
  if (fs::is_regular_file(directory)) return {{directory}, {}, {}};
  for (const fs::path& folder : sorted_entries(directory)) {
    if (!fs::is_directory(folder)) continue;
    const auto pictures = pictures_in(folder);
    if (pictures.empty()) continue;
    all.files.insert(all.files.end(), pictures.begin(), pictures.end());
    all.labels.insert(all.labels.end(), pictures.size(), static_cast<double>(all.classes.size()));
    all.classes.push_back(folder.filename().string());
  }
  if (all.files.empty()) all.files = pictures_in(directory);
  if (all.files.empty())
    throw InputError(directory + ": holds no PNG or JPEG pictures, one folder for each class");
  return all;
}

std::string size_of(const Picture& picture) {
  return std::to_string(picture.height) + " x " + std::to_string(picture.width);
}

}  // namespace

PictureSize parse_picture_size(const std::string& text) {
  const auto side = [&](std::string_view part) {
    std::size_t size = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), size);
    if (part.empty() || read.ec != std::errc{} || read.ptr != part.data() + part.size() ||
        size < 1 || size > 4096)
      throw InputError("\"" + text + "\" is not a size from 1 to 4096, like 32 or 32x48");
    return size;
  };
  const std::size_t cross = text.find('x');
  const std::size_t height = side(std::string_view(text).substr(0, cross));
  return {height, cross == text.npos ? height : side(std::string_view(text).substr(cross + 1))};
}

std::string to_string(PictureSize size) {
  return std::to_string(size.height) + "x" + std::to_string(size.width);
}

bool is_picture_file(const std::string& path) {
  return has_picture_ending(path) && fs::is_regular_file(path);
}

bool is_image_folder(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (has_picture_ending(entry.path())) return true;
    if (!entry.is_directory()) continue;
    for (const auto& inside : fs::directory_iterator(entry.path())) {
      if (has_picture_ending(inside.path())) return true;
      if (inside.is_directory() && entry.path().filename() == "train") return true;
    }
  }
  return false;
}

std::optional<std::string> part_folder(const std::string& directory, const std::string& part) {
  if (!fs::is_directory(directory + "/train")) return std::nullopt;
  const std::string folder = directory + "/" + part;
  return fs::is_directory(folder) ? std::optional(folder) : std::nullopt;
}

RawData read_image_folder(const std::string& directory, const FolderOptions& options) {
  Listing all = list_pictures(directory);
  std::vector<Picture> pictures(all.files.size());
  in_parallel(pictures.size(), std::max(1u, std::thread::hardware_concurrency()),
              [&](std::size_t k) {
                const MappedFile file(all.files[k].string());
                pictures[k] = decode_picture(file.bytes(), all.files[k].string());
                if (options.resize)
                  pictures[k] = resized(pictures[k], options.resize->height, options.resize->width);
              });
  const bool colours = std::any_of(pictures.begin(), pictures.end(),
                                   [](const Picture& p) { return p.channels == 3; });
  const std::size_t channels = options.channels.value_or(colours ? 3 : 1);
  const Picture& first = pictures.front();
  const std::size_t height = first.height, width = first.width;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(pictures.size() * channels * height * width);
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    Picture picture = std::move(pictures[k]);
    if (picture.height != height || picture.width != width)
      throw InputError(all.files[k].string() + ": has " + size_of(picture) + " pixels, " +
                       all.files[0].string() + " " + std::to_string(height) + " x " +
                       std::to_string(width) + "; `resize` HxW brings them to one size");
    if (channels == 3) picture = with_colours(std::move(picture));
    if (picture.channels != channels)
      throw InputError(all.files[k].string() + ": has colours; the model takes grey pictures");
    pixels.insert(pixels.end(), picture.pixels.begin(), picture.pixels.end());
  }
  RawData data{.path = directory};
  data.shape = {static_cast<std::int64_t>(channels), static_cast<std::int64_t>(height),
                static_cast<std::int64_t>(width)};
  data.inputs = std::make_shared<ByteRows>(std::move(pixels), channels * height * width);
  for (const fs::path& file : all.files)
    data.files.push_back(fs::is_directory(directory) ? file.lexically_relative(directory).string()
                                                     : file.filename().string());
  data.labels = {std::move(all.labels), all.classes};
  data.classes = std::move(all.classes);
  return data;
}

}  // namespace dasgd
