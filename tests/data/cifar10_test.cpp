#include "dasgd/data/images/cifar10.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"
#include "support/tiny_images.hpp"

namespace dasgd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Cifar10 : public ::testing::Test {
 protected:
  void SetUp() override { test::write_tiny_cifar10(directory, 20); }
  std::string refusal() {
    return test::message_of<InputError>([&] { read_cifar10_directory(directory.path()); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(Cifar10, ReadsTheOfficialLayout) {
  ASSERT_TRUE(is_cifar10_directory(directory.path()));
  const ImageSet set = read_cifar10_directory(directory.path());
  EXPECT_EQ(set.train.count(), 100u);
  EXPECT_EQ(set.test.count(), 20u);
  EXPECT_EQ(set.classes, 10u);
  EXPECT_EQ(set.train.pixels_per_image, 3072u);
  EXPECT_EQ(set.train.labels[13], 3);
  EXPECT_EQ(set.train.pixels, [&] {
    std::vector<std::uint8_t> all;
    for (std::size_t k = 0; k < 5; ++k) {
      const auto part = test::tiny_images(20, 32, 10, cifar10_files[k].name[11]).pixels;
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }());
}

TEST_F(Cifar10, NamesATruncatedFile) {
  std::filesystem::resize_file(directory.file("data_batch_3.bin"), 20 * cifar10_record - 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("data_batch_3.bin: is truncated"), HasSubstr("61459")));
  std::filesystem::resize_file(directory.file("data_batch_3.bin"), 0);
  EXPECT_THAT(refusal(), HasSubstr("data_batch_3.bin: is truncated"));
}

TEST_F(Cifar10, NamesALabelOutOfRange) {
  std::string bytes = test::read_text(directory.file("test_batch.bin"));
  bytes[7 * cifar10_record] = 10;
  directory.write("test_batch.bin", bytes);
  EXPECT_THAT(refusal(), HasSubstr("test_batch.bin: record 7 has label 10; CIFAR-10 has 0 to 9"));
}

TEST_F(Cifar10, NamesAMissingFile) {
  std::filesystem::remove(directory.file("data_batch_5.bin"));
  EXPECT_THAT(refusal(), HasSubstr("data_batch_5.bin: is not there"));
}

}  // namespace
}  // namespace dasgd
