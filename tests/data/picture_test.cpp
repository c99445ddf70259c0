#include "dasgd/data/images/picture.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "dasgd/core/error.hpp"
#include "dasgd/data/images/image_folder.hpp"
#include "support/made_pictures.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Pictures : public ::testing::Test {
 protected:
  Picture read(const std::string& name) {
    return decode_picture(test::read_text(directory.file(name)), name);
  }
  std::string refusal(const std::string& bytes) {
    return test::message_of<InputError>([&] { decode_picture(bytes, "p"); });
  }
  std::string folder_refusal(const FolderOptions& options = {}) {
    return test::message_of<InputError>([&] { read_image_folder(directory.path(), options); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(Pictures, ChannelsOfAPngBecomePlanes) {
  test::write_png(directory.file("a.png"), 1, 2, 3, {1, 2, 3, 4, 5, 6});
  const Picture picture = read("a.png");
  EXPECT_EQ(picture.channels, 3u);
  EXPECT_THAT(picture.pixels, ElementsAre(1, 4, 2, 5, 3, 6));
  test::write_png(directory.file("g.png"), 2, 2, 1, {1, 2, 3, 4});
  EXPECT_THAT(read("g.png").pixels, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(read("g.png").channels, 1u);
  EXPECT_THAT(with_colours(read("g.png")).pixels, ElementsAre(1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4));
}

TEST_F(Pictures, AJpegIsReadToo) {
  test::write_jpeg(directory.file("a.jpg"), 16, 8, 1, std::vector<std::uint8_t>(128, 77));
  const Picture picture = read("a.jpg");
  EXPECT_EQ(picture.height, 16u);
  EXPECT_EQ(picture.width, 8u);
  EXPECT_THAT(picture.pixels, Each(77));
}

TEST_F(Pictures, BrokenOnesAreRefusedInALine) {
  test::write_png(directory.file("a.png"), 40, 40, 3, std::vector<std::uint8_t>(4800, 9));
  test::write_jpeg(directory.file("a.jpg"), 40, 40, 3, std::vector<std::uint8_t>(4800, 9));
  EXPECT_THAT(refusal("text"), HasSubstr("p: is neither a PNG nor a JPEG picture"));
  EXPECT_THAT(refusal(test::read_text(directory.file("a.png")).substr(0, 50)),
              HasSubstr("broken PNG"));
  EXPECT_THAT(refusal(test::read_text(directory.file("a.jpg")).substr(0, 50)), HasSubstr("broken"));
}

TEST_F(Pictures, AnotherSizeIsTheMeanOfWhatIsCovered) {
  const Picture even{1, 4, 4, std::vector<std::uint8_t>(16, 50)};
  EXPECT_THAT(resized(even, 2, 3).pixels, Each(50));
  const Picture ramp{1, 1, 4, {0, 100, 100, 200}};
  const auto half = resized(ramp, 1, 2).pixels;
  EXPECT_EQ(half[0] + half[1], 200);
  EXPECT_LT(half[0], half[1]);
}

TEST_F(Pictures, AFolderIsAClassAndFilesComeInTheOrderOfTheirNames) {
  test::write_picture_folders(directory.path(), 9);
  EXPECT_TRUE(is_image_folder(directory.path()));
  EXPECT_THAT(folder_refusal(), HasSubstr("`resize` HxW brings them to one size"));
  const RawData data = read_image_folder(directory.path(), {.resize = PictureSize{8, 6}});
  EXPECT_THAT(data.shape, ElementsAre(3, 8, 6));
  EXPECT_EQ(data.rows(), 18u);
  EXPECT_THAT(find_classes(data), ElementsAre("dark", "light"));
  const auto classes = to_classes(data, find_classes(data));
  EXPECT_EQ(classes[8], 0);
  EXPECT_EQ(classes[9], 1);
  EXPECT_THAT(folder_refusal({.resize = PictureSize{8, 8}, .channels = 1}),
              HasSubstr("has colours"));
}

TEST_F(Pictures, AFolderWithoutPicturesIsRefused) {
  EXPECT_FALSE(is_image_folder(directory.path()));
  EXPECT_THAT(folder_refusal(), HasSubstr("holds no PNG or JPEG pictures"));
}

TEST(EncodePng, GivesBackWhatWasDrawn) {
  for (const std::size_t channels : {1, 3}) {
    Picture picture{channels, 5, 7, {}};
    for (std::size_t k = 0; k < channels * 35; ++k)
      picture.pixels.push_back(static_cast<std::uint8_t>(k * 37));
    const Picture back = decode_picture(encode_png(picture), "drawn");
    EXPECT_EQ(back.channels, channels);
    EXPECT_EQ(back.height, 5u);
    EXPECT_EQ(back.pixels, picture.pixels);
  }
}

TEST(PictureSize, IsOneNumberOrTwo) {
  EXPECT_EQ(to_string(parse_picture_size("32")), "32x32");
  EXPECT_EQ(to_string(parse_picture_size("32x48")), "32x48");
  for (const char* text : {"", "x", "32x", "0", "5000", "3x4x5", "a"})
    EXPECT_THROW(parse_picture_size(text), InputError) << text;
}

}  // namespace
}  // namespace dasgd
