#include "dasgd/data/images/idx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "support/message.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Idx : public ::testing::Test {
 protected:
  void SetUp() override { test::write_tiny_idx(directory); }
  std::string refusal() {
    return test::message_of<InputError>([&] { read_idx_directory(directory.path()); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(Idx, ReadsADirectory) {
  const ImageSet set = read_idx_directory(directory.path());
  EXPECT_EQ(set.train.count(), 90u);
  EXPECT_EQ(set.test.count(), 30u);
  EXPECT_EQ(set.classes, 3u);
  EXPECT_EQ(set.train.pixels_per_image, 16u);
}

TEST_F(Idx, ReadsCompressedFiles) {
  const std::string plain = directory.file("train-images-idx3-ubyte");
  const std::string bytes = test::read_text(plain);
  gzFile file = gzopen((plain + ".gz").c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::filesystem::remove(plain);
  EXPECT_EQ(read_idx_directory(directory.path()).train.count(), 90u);
}

TEST_F(Idx, NamesAMissingFile) {
  std::filesystem::remove(directory.file("t10k-labels-idx1-ubyte"));
  EXPECT_THAT(refusal(), HasSubstr("has no t10k-labels-idx1-ubyte"));
}

TEST_F(Idx, NamesATruncatedFileAndWhatIsMissing) {
  std::filesystem::resize_file(directory.file("train-images-idx3-ubyte"), 16 + 90 * 16 - 5);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("train-images-idx3-ubyte: is truncated"),
                               HasSubstr("5 bytes are missing")));
}

TEST_F(Idx, NamesATruncatedCompressedFile) {
  const std::string plain = directory.file("train-images-idx3-ubyte");
  const std::string bytes = test::read_text(plain);
  gzFile file = gzopen((plain + ".gz").c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::filesystem::remove(plain);
  std::filesystem::resize_file(plain + ".gz", std::filesystem::file_size(plain + ".gz") / 2);
  EXPECT_THAT(refusal(), HasSubstr("train-images-idx3-ubyte.gz: is truncated"));
}

TEST_F(Idx, AWrongCountIsATruncationNotAnAllocation) {
  directory.write("train-images-idx3-ubyte", test::big_endian(0x803) +
                                                 test::big_endian(0x7fffffff) +
                                                 test::big_endian(28) + test::big_endian(28));
  EXPECT_THAT(refusal(), HasSubstr("train-images-idx3-ubyte: is truncated"));
  directory.write("train-images-idx3-ubyte", test::big_endian(0x803) + test::big_endian(1) +
                                                 test::big_endian(65536) + test::big_endian(65536));
  EXPECT_THAT(refusal(), HasSubstr("impossible image size"));
}

TEST_F(Idx, RefusesWhatIsNotIdx) {
  directory.write("train-labels-idx1-ubyte", "hello world, this is text");
  EXPECT_THAT(refusal(), HasSubstr("train-labels-idx1-ubyte: is not an idx file of labels"));
}

TEST_F(Idx, RefusesLabelsThatDoNotFit) {
  directory.write("train-labels-idx1-ubyte", test::idx_labels(89));
  EXPECT_THAT(refusal(), HasSubstr("one label for each of the 90 images"));
  directory.write("train-labels-idx1-ubyte", test::idx_labels(90) + "x");
  EXPECT_THAT(refusal(), HasSubstr("is longer than its header says"));
}

TEST_F(Idx, ReadsFashionMnistFromItsPackage) {
  const ImageSet set = read_idx_directory(locate_data("fashion-mnist"));
  EXPECT_EQ(set.train.count(), 60'000u);
  EXPECT_EQ(set.test.count(), 10'000u);
  EXPECT_EQ(set.classes, 10u);
  EXPECT_EQ(set.train.pixels_per_image, 784u);
}

TEST(Catalogue, SuggestsANearName) {
  EXPECT_THAT(test::message_of<InputError>([] { locate_data("fashion-mnst"); }),
              HasSubstr("did you mean \"fashion-mnist\"?"));
}

}  // namespace
}  // namespace dasgd
