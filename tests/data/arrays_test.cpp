#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "dasgd/core/error.hpp"
#include "dasgd/data/arrays/array_data.hpp"
#include "dasgd/data/arrays/npy.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Number>
std::string npy(const std::string& type, const std::string& shape,
                const std::vector<Number>& numbers, bool fortran = false) {
  std::string header = "{'descr': '" + type +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  return bytes;
}

class Arrays : public ::testing::Test {
 protected:
  static std::vector<float> row(const RawData& data, std::size_t at) {
    std::vector<float> numbers(data.inputs->width());
    data.inputs->copy(at, numbers);
    return numbers;
  }
  std::string refusal(const std::string& bytes) {
    const std::string path = directory.write("x.npy", bytes);
    return test::message_of<InputError>([&] { read_npy(path, std::nullopt, {}); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(Arrays, NumbersOfEveryTypeAreRead) {
  const auto third = [&]<typename Number>(const std::string& type, Number) {
    const std::string path = directory.write(
        "t.npy", npy<Number>(type, "(2, 2)", {Number(1), Number(0), Number(7), Number(1)}));
    return row(read_npy(path, std::nullopt, {}), 1)[0];
  };
  EXPECT_EQ(third("<f4", float{}), 7);
  EXPECT_EQ(third("<f8", double{}), 7);
  EXPECT_EQ(third("|u1", std::uint8_t{}), 7);
  EXPECT_EQ(third("|i1", std::int8_t{}), 7);
  EXPECT_EQ(third("<i2", std::int16_t{}), 7);
  EXPECT_EQ(third("<u4", std::uint32_t{}), 7);
  EXPECT_EQ(third("<i8", std::int64_t{}), 7);
}

TEST_F(Arrays, OneColumnIsTheLabel) {
  const std::string path =
      directory.write("t.npy", npy<double>("<f8", "(2, 3)", {1, 2, 0, 3, 4, 1}));
  const RawData last = read_npy(path, std::nullopt, {});
  EXPECT_THAT(row(last, 1), ElementsAre(3, 4));
  EXPECT_THAT(last.labels.values, ElementsAre(0, 1));
  const RawData first = read_npy(path, std::nullopt, {.label = "1"});
  EXPECT_THAT(row(first, 1), ElementsAre(4, 1));
  EXPECT_THAT(first.labels.values, ElementsAre(1, 3));
  EXPECT_THAT(test::message_of<InputError>([&] { read_npy(path, std::nullopt, {.label = "y"}); }),
              HasSubstr("has columns 1 to 3, without names"));
}

TEST_F(Arrays, LabelsMayStandInASecondArrayAndBeTexts) {
  const std::string x = directory.write("x.npy", npy<float>("<f4", "(2, 1)", {5, 6}));
  const std::string y =
      directory.write("y.npy", npy<std::uint32_t>("<U2", "(2,)", {'n', 'o', 0xE9, 0}));
  const RawData data = read_npy(x, y, {});
  EXPECT_THAT(find_classes(data), ElementsAre("no", "\xC3\xA9"));
  const std::string few = directory.write("few.npy", npy<std::uint8_t>("|u1", "(1,)", {1}));
  EXPECT_THAT(test::message_of<InputError>([&] { read_npy(x, few, {}); }),
              HasSubstr("has 1 labels for 2 samples"));
}

TEST_F(Arrays, ImagesMayHaveTheirChannelsFirstOrLast) {
  const std::string y = directory.write("y.npy", npy<std::uint8_t>("|u1", "(1,)", {0}));
  const auto image = [&](const std::string& shape) {
    std::vector<std::uint8_t> pixels;
    for (std::uint8_t p = 0; p < 30; ++p) pixels.push_back(p);
    return read_npy(directory.write("x.npy", npy<std::uint8_t>("|u1", shape, pixels)), y, {});
  };
  EXPECT_THAT(image("(1, 5, 6)").shape, ElementsAre(1, 5, 6));
  EXPECT_THAT(image("(1, 3, 5, 2)").shape, ElementsAre(3, 5, 2));
  const RawData last = image("(1, 5, 2, 3)");
  EXPECT_THAT(last.shape, ElementsAre(3, 5, 2));
  EXPECT_EQ(row(last, 0)[1], 3);
  EXPECT_EQ(row(last, 0)[10], 1);
}

// Large files are fetched row by row; this one is a hole with a number at either end.
TEST_F(Arrays, RowsOfALargeFileAreFetchedBeforeTheyAreRead) {
  const std::string x = directory.write("x.npy", npy<std::uint8_t>("|u1", "(100000, 11000)", {7}));
  const auto begin = std::filesystem::file_size(x) - 1;
  std::filesystem::resize_file(x, begin + 1'100'000'000 - 1);
  std::ofstream(x, std::ios::binary | std::ios::app) << '\x05';
  std::string labels = npy<std::uint8_t>("|u1", "(100000,)", {});
  labels.resize(labels.size() + 100'000);
  const RawData data = read_npy(x, directory.write("y.npy", labels), {});
  for (const std::size_t at : {0u, 1u, 99'999u}) data.inputs->fetch(at);
  EXPECT_EQ(row(data, 0).front(), 7);
  EXPECT_EQ(row(data, 1).front(), 0);
  EXPECT_EQ(row(data, 99'999).back(), 5);
}

TEST_F(Arrays, RowsThatMissNumbersAreDroppedWhereThatIsWanted) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string path =
      directory.write("t.npy", npy<float>("<f4", "(3, 2)", {1, 0, nan, 1, 5, 1}));
  const RawData data = read_npy(path, std::nullopt, {.missing = Missing::drop});
  EXPECT_EQ(data.rows(), 2u);
  EXPECT_THAT(data.numbers, ElementsAre(0, 2));
  EXPECT_THAT(row(data, 1), ElementsAre(5));
  EXPECT_THAT(data.labels.values, ElementsAre(0, 1));
}

TEST_F(Arrays, LabelsThatAreMissingCountOnlyWhereTheyAreNeeded) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Preprocessing model;
  model.shape = {1};
  model.label_at = 1;
  const std::string path =
      directory.write("t.npy", npy<float>("<f4", "(3, 2)", {1, 0, nan, 1, 5, nan}));
  const auto kept = [&](bool needs_labels) {
    return read_npy(path, std::nullopt,
                    {.missing = Missing::drop, .needs_labels = needs_labels, .like = &model})
        .numbers;
  };
  EXPECT_THAT(kept(true), ElementsAre(0));
  EXPECT_THAT(kept(false), ElementsAre(0, 2));
}

TEST_F(Arrays, RefusesWhatIsNoArrayOfNumbers) {
  EXPECT_THAT(refusal("hello"), HasSubstr("x.npy: is not a .npy file"));
  EXPECT_THAT(refusal(npy<float>("<f4", "(2, 2)", {1, 2, 3})), HasSubstr("is truncated"));
  EXPECT_THAT(refusal(npy<float>("<f4", "(99999999999999, 99999999999)", {1})),
              HasSubstr("is truncated"));
  EXPECT_THAT(refusal(npy<float>("<f4", "(0, 2)", {1})), HasSubstr("holds no elements"));
  EXPECT_THAT(refusal(npy<float>(">f4", "(1, 2)", {1, 2})), HasSubstr("big-endian"));
  EXPECT_THAT(refusal(npy<float>("<c8", "(1, 2)", {1, 2, 3, 4})), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal(npy<float>("|O", "(1, 2)", {1, 2})), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal(npy<float>("<f4", "(2, 1)", {1, 2}, true)), HasSubstr("Fortran order"));
  EXPECT_THAT(refusal(npy<float>("<f4", "(2,)", {1, 2})), HasSubstr("has no labels"));
}

}  // namespace
}  // namespace dasgd
