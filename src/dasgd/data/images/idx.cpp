#include "dasgd/data/images/idx.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <zlib.h>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

/// A file read through zlib, which passes plain files through as they are.
class IdxFile {
 public:
  explicit IdxFile(std::string path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {
    if (!file_) fail("cannot be opened");
  }

  [[noreturn]] void fail(const std::string& why) const { throw InputError(path_ + ": " + why); }

  std::uint32_t big_endian() {
    std::uint8_t bytes[4] = {};
    read(bytes, 4);
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | bytes[3];
  }

  void read(std::uint8_t* to, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
      const auto piece = static_cast<unsigned>(std::min<std::size_t>(size - done, 1u << 30));
      const int got = gzread(file_.get(), to + done, piece);
      if (got <= 0)
        fail("is truncated: " + std::to_string(size - done) + " bytes are missing; fetch it again");
      done += static_cast<std::size_t>(got);
    }
  }

  void require_end() {
    std::uint8_t extra = 0;
    if (gzread(file_.get(), &extra, 1) != 0) fail("is longer than its header says");
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

IdxFile open(const std::string& directory, const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    const auto path = std::filesystem::path(directory) / (name + suffix);
    if (std::filesystem::exists(path)) return IdxFile(path.string());
  }
  throw InputError(directory + ": has no " + name + " or " + name +
                   ".gz; `data` needs a directory of idx files");
}

LabelledImages read_pair(const std::string& directory, const std::string& prefix) {
  LabelledImages set;
  IdxFile images = open(directory, prefix + "-images-idx3-ubyte");
  if (images.big_endian() != 0x803) images.fail("is not an idx file of images (magic 0x803)");
  const std::size_t count = images.big_endian();
  const std::size_t height = images.big_endian(), width = images.big_endian();
  if (count == 0 || height == 0 || width == 0) images.fail("holds no pixels");
  if (height > 4096 || width > 4096) images.fail("has an impossible image size");
  set.height = height;
  set.width = width;
  set.pixels_per_image = height * width;
  // Grows with what is really there: wrong numbers in the header must not allocate for it.
  constexpr std::size_t at_a_time = std::size_t{1} << 24;
  for (std::size_t left = count * set.pixels_per_image; left > 0;) {
    const std::size_t piece = std::min(at_a_time, left), before = set.pixels.size();
    set.pixels.resize(before + piece);
    images.read(set.pixels.data() + before, piece);
    left -= piece;
  }
  images.require_end();

  IdxFile labels = open(directory, prefix + "-labels-idx1-ubyte");
  if (labels.big_endian() != 0x801) labels.fail("is not an idx file of labels (magic 0x801)");
  if (labels.big_endian() != count)
    labels.fail("does not have one label for each of the " + std::to_string(count) + " images");
  set.labels.resize(count);
  labels.read(set.labels.data(), count);
  labels.require_end();
  return set;
}

}  // namespace

ImageSet read_idx_directory(const std::string& directory) {
  ImageSet set{read_pair(directory, "train"), read_pair(directory, "t10k"), 0};
  if (set.train.pixels_per_image != set.test.pixels_per_image)
    throw InputError(directory + ": training and test images differ in size");
  const auto largest = [](const LabelledImages& images) {
    return *std::max_element(images.labels.begin(), images.labels.end());
  };
  set.classes = std::size_t{largest(set.train)} + 1;
  if (largest(set.test) >= set.classes)
    throw InputError(directory + ": a test label does not occur in the training set");
  return set;
}

RawData to_raw(LabelledImages images, std::vector<std::string> classes, const std::string& path) {
  RawData data{.path = path};
  data.shape = {static_cast<std::int64_t>(images.channels),
                static_cast<std::int64_t>(images.height), static_cast<std::int64_t>(images.width)};
  data.inputs = std::make_shared<ByteRows>(std::move(images.pixels), images.pixels_per_image);
  data.labels.values.assign(images.labels.begin(), images.labels.end());
  data.classes = std::move(classes);
  return data;
}

}  // namespace dasgd
