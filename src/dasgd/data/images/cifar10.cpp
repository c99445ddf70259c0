#include "dasgd/data/images/cifar10.hpp"

#include <filesystem>
#include <fstream>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t label_count = 10;

void append(const fs::path& path, LabelledImages& images) {
  const auto fail = [&](const std::string& why) { throw InputError(path.string() + ": " + why); };
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) fail("is not there; `data` needs the six files of CIFAR-10: dasgd data get cifar10");
  if (bytes == 0 || bytes % cifar10_record != 0)
    fail("is truncated: " + std::to_string(bytes) +
         " bytes are not a multiple of the record size " + std::to_string(cifar10_record) +
         "; fetch it again: dasgd data get cifar10");
  std::ifstream file(path, std::ios::binary);
  std::vector<char> record(cifar10_record);
  const std::size_t records = bytes / cifar10_record;
  images.labels.reserve(images.labels.size() + records);
  images.pixels.reserve(images.pixels.size() + records * images.pixels_per_image);
  for (std::size_t r = 0; r < records; ++r) {
    if (!file.read(record.data(), static_cast<std::streamsize>(record.size())))
      fail("cannot be read");
    const auto label = static_cast<std::uint8_t>(record[0]);
    if (label >= label_count)
      fail("record " + std::to_string(r) + " has label " + std::to_string(label) +
           "; CIFAR-10 has 0 to 9");
    images.labels.push_back(label);
    images.pixels.insert(images.pixels.end(), record.begin() + 1, record.end());
  }
}

}  // namespace

bool is_cifar10_directory(const std::string& directory) {
  return fs::exists(fs::path(directory) / cifar10_files.front().name);
}

ImageSet read_cifar10_directory(const std::string& directory) {
  ImageSet set;
  set.classes = label_count;
  for (LabelledImages* const images : {&set.train, &set.test}) {
    images->channels = 3;
    images->height = images->width = 32;
    images->pixels_per_image = cifar10_record - 1;
  }
  for (const Cifar10File& file : cifar10_files)
    append(fs::path(directory) / file.name, &file == &cifar10_files.back() ? set.test : set.train);
  return set;
}

}  // namespace dasgd
