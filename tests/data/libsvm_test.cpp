#include "dasgd/data/rows/libsvm.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"
#include "support/questionnaire.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Libsvm : public ::testing::Test {
 protected:
  LabelledRows read(const std::string& text) { return read_libsvm(directory.write("data", text)); }
  std::string refusal(const std::string& text) {
    return test::message_of<InputError>([&] { read(text); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(Libsvm, ReadsRowsWithEveryLegalOddity) {
  const auto rows = read("-1 1:0.5 3:-2e-1 \n+1\n\n# comment\n+1 2:+4 # tail\r\n-1 7:1");
  EXPECT_THAT(rows.labels, ElementsAre(-1, 1, 1, -1));
  EXPECT_THAT(rows.row_start, ElementsAre(0, 2, 2, 3, 4));
  EXPECT_THAT(rows.columns, ElementsAre(0, 2, 1, 6));
  EXPECT_THAT(rows.values, ElementsAre(0.5, -0.2, 4, 1));
  EXPECT_EQ(rows.dimension, 7u);
}

TEST_F(Libsvm, PassesOverAByteOrderMark) {
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "1 1:1\n0 1:1\n")
                  .labels,
              ElementsAre(1, -1));
}

TEST_F(Libsvm, MapsEveryPairOfLabels) {
  EXPECT_THAT(read("0 1:1\n1 1:1\n").labels, ElementsAre(-1, 1));
  EXPECT_THAT(read("1 1:1\n2 1:1\n").labels, ElementsAre(-1, 1));
  EXPECT_THAT(read("+1 1:1\n-1 1:1\n").labels, ElementsAre(1, -1));
  EXPECT_THAT(read("1.0 1:1\n1 1:1\n").labels, ElementsAre(1, 1));
}

TEST_F(Libsvm, NamesTheLineOfEveryMistake) {
  EXPECT_THAT(refusal("1 1:1\n1 2\n"), HasSubstr("data:2: \"2\" is not of the form index:value"));
  EXPECT_THAT(refusal("1 0:1\n"), HasSubstr("data:1: index \"0\""));
  EXPECT_THAT(refusal("1 -3:1\n"), HasSubstr("data:1: index \"-3\""));
  EXPECT_THAT(refusal("1 2:1 2:1\n"), HasSubstr("data:1: index 2 follows 2"));
  EXPECT_THAT(refusal("1 4000000000:1\n"), HasSubstr("data:1: index 4000000000 is beyond"));
  EXPECT_THAT(refusal("1 1:x\n"), HasSubstr("data:1: value \"x\" is not a number"));
  EXPECT_THAT(refusal("1 1:\n"), HasSubstr("data:1: value \"\" is not a number"));
  EXPECT_THAT(refusal("1 1:1\n\n1 1:nan\n"), HasSubstr("data:3: value \"nan\" is not finite"));
  EXPECT_THAT(refusal("inf 1:1\n"), HasSubstr("data:1: label \"inf\" is not finite"));
  EXPECT_THAT(refusal("3 1:1\n"), HasSubstr("data:1: label \"3\""));
  EXPECT_THAT(refusal("-1 1:1\n2 1:1\n"), HasSubstr("labels must be -1/+1, 0/1 or 1/2"));
  EXPECT_THAT(refusal(""), HasSubstr("holds no rows"));
  EXPECT_THAT(refusal("1\n-1\n"), HasSubstr("holds no features"));
  EXPECT_THAT(test::message_of<InputError>([] { read_libsvm("/no/such"); }),
              HasSubstr("/no/such: cannot be opened"));
}

TEST_F(Libsvm, ReadsThousandsOfRows) {
  const auto made = test::questionnaire(20'000);
  const auto rows = read(made.text);
  EXPECT_EQ(rows.rows(), made.rows);
  EXPECT_EQ(rows.dimension, made.dimension);
  EXPECT_EQ(rows.columns.size(), made.features);
  EXPECT_EQ(std::count(rows.labels.begin(), rows.labels.end(), 1.0), made.positive);
}

TEST_F(Libsvm, KeepsRowsWithoutFeatures) {
  const auto made = test::questionnaire(5000, "-1", "+1", 40);
  const auto rows = read(made.text);
  EXPECT_EQ(rows.rows(), made.rows);
  EXPECT_EQ(rows.columns.size(), made.features);
  std::size_t empty = 0;
  for (std::size_t r = 0; r < rows.rows(); ++r) empty += rows.row_start[r] == rows.row_start[r + 1];
  EXPECT_EQ(empty, made.empty);
  EXPECT_EQ(empty, 125u);
}

TEST_F(Libsvm, ReadsRowsWithLabelsOneAndTwo) {
  const auto made = test::questionnaire(5000, "1", "2");
  const auto rows = read(made.text);
  EXPECT_EQ(rows.rows(), made.rows);
  EXPECT_EQ(std::count(rows.labels.begin(), rows.labels.end(), -1.0), made.rows - made.positive);
}

}  // namespace
}  // namespace dasgd
