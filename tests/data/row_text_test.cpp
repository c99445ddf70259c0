#include "dasgd/data/rows/row_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/data/rows/row_labels.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RowText, TheFirstLineDecidesTheFormat) {
  RowText csv("s", {}, {}), libsvm("s", {}, {});
  EXPECT_FALSE(csv.read("a,b,label"));
  const auto row = csv.read("1, 2.5,3\r");
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->dense);
  EXPECT_THAT(row->values, ElementsAre(1, 2.5));
  EXPECT_EQ(row->label, 3);
  EXPECT_EQ(csv.features(), 2u);

  EXPECT_FALSE(libsvm.read("# a, comment"));
  const auto sparse = libsvm.read("-1 2:0.5 7:1");
  ASSERT_TRUE(sparse);
  EXPECT_THAT(sparse->columns, ElementsAre(1, 6));
  EXPECT_FALSE(libsvm.features());
  libsvm.settle_features();
  EXPECT_EQ(libsvm.features(), 7u);
}

TEST(RowText, BlankLinesCountButAreNoRows) {
  RowText text("s", RowFormat::csv, {});
  EXPECT_FALSE(text.read(""));
  EXPECT_FALSE(text.read("  \r"));
  EXPECT_EQ(refusal([&] { text.read("1,x"); }), "s:3: column 2: \"x\" is not a number");
}

TEST(RowText, AHeaderHasNoNumberAndIsNotAMistakeOfData) {
  const auto first = [](const std::string& line) {
    return refusal([&] { RowText("s", RowFormat::csv, {}).read(line); });
  };
  EXPECT_EQ(first(",b,label"), "");
  EXPECT_EQ(first("nan,2,0"), "s:1: column 1: \"nan\" is not finite");
  EXPECT_EQ(first("1,-inf,0"), "s:1: column 2: \"-inf\" is not finite");
  EXPECT_EQ(first("a,b,NaN"), "s:1: column 1: \"a\" is not a number");
  EXPECT_EQ(first("1,,0"), "s:1: column 2 is empty");
  RowText later("s", RowFormat::csv, {});
  EXPECT_FALSE(later.read(""));
  EXPECT_FALSE(later.read("a,b"));
  EXPECT_EQ(refusal([&] { later.read("c,d"); }), "s:3: column 1: \"c\" is not a number");
}

TEST(RowText, ValuesBeyondFloatAreMistakesOfTheData) {
  for (const std::string value : {"1e300", "-1e39", "1e400"}) {
    RowText csv("s", RowFormat::csv, {}), libsvm("s", RowFormat::libsvm, {});
    EXPECT_EQ(refusal([&] { csv.read("1," + value + ",0"); }),
              "s:1: column 2: \"" + value + "\" is beyond the range of float32");
    EXPECT_EQ(refusal([&] { libsvm.read("1 1:" + value); }),
              "s:1: value \"" + value + "\" is beyond the range of float32");
  }
  EXPECT_EQ(RowText("s", RowFormat::csv, {}).read("+3e38,1e-300,0")->values[0], 3e38);
}

TEST(RowText, AByteOrderMarkIsPassedOver) {
  RowText csv("s", {}, {}), libsvm("s", {}, {});
  const auto row = csv.read(
      "\xEF\xBB\xBF"
      "1,2,0");
  ASSERT_TRUE(row);
  EXPECT_THAT(row->values, ElementsAre(1, 2));
  const auto sparse = libsvm.read(
      "\xEF\xBB\xBF"
      "1 3:1");
  ASSERT_TRUE(sparse);
  EXPECT_EQ(sparse->label, 1);
}

TEST(RowText, AMistakeNamesItsLineAndWhatToDo) {
  RowText csv("s", RowFormat::csv, {});
  csv.read("1,2,0");
  EXPECT_EQ(refusal([&] { csv.read("1,0"); }),
            "s:2: has 2 columns; 3 are expected, the last for the label");
  RowText given("s", RowFormat::libsvm, 3);
  EXPECT_EQ(refusal([&] { given.read("1 4:1"); }), "s:1: index 4 is beyond the 3 features");
  RowText learned("s", RowFormat::libsvm, {});
  learned.read("1 2:1");
  learned.settle_features();
  EXPECT_THAT(refusal([&] { learned.read("1 3:1"); }), HasSubstr("s:2: index 3 is beyond the 2"));
  EXPECT_THAT(refusal([&] { learned.read("1 3:1"); }), HasSubstr("give `features` D"));
  EXPECT_THAT(refusal([&] { learned.read("1 1=1"); }),
              HasSubstr("s:4: \"1=1\" is not of the form"));
  EXPECT_THAT(refusal([] { parse_row_format("cvs"); }), HasSubstr("did you mean \"csv\"?"));
}

struct Labels : ::testing::Test {
  RowText at{"s", RowFormat::csv, {}};
};

TEST_F(Labels, TheFirstThatIsNotOneDecidesTheSigns) {
  const auto meaning_after = [&](double other) {
    auto labels = sign_labels();
    labels->see(1, at);
    EXPECT_FALSE(labels->known());
    labels->see(other, at);
    EXPECT_TRUE(labels->known());
    return std::pair(labels->meaning(1), labels->meaning(other));
  };
  EXPECT_EQ(meaning_after(-1), std::pair(1.0, -1.0));
  EXPECT_EQ(meaning_after(0), std::pair(1.0, -1.0));
  EXPECT_EQ(meaning_after(2), std::pair(-1.0, 1.0));
}

TEST_F(Labels, SignsDoNotChangeTheirMeaningOnTheWay) {
  auto labels = sign_labels();
  labels->see(1, at);
  labels->settle();
  EXPECT_EQ(labels->meaning(1), 1);
  EXPECT_THAT(refusal([&] { labels->see(2, at); }), HasSubstr("label 2 follows"));
  labels->see(0, at);
  EXPECT_EQ(labels->meaning(0), -1);
  EXPECT_THAT(refusal([&] { labels->see(-1, at); }), HasSubstr("label -1 comes after 0"));
  EXPECT_THAT(refusal([&] { labels->see(0.5, at); }), HasSubstr("label 0.5 is not -1, 0, 1 or 2"));
}

TEST_F(Labels, ClassesAreGivenOrThoseOfTheFirstRows) {
  auto given = class_labels(3);
  EXPECT_TRUE(given->known());
  EXPECT_THAT(refusal([&] { given->see(3, at); }), HasSubstr("class 3 is beyond the 3 classes"));
  auto learned = class_labels({});
  learned->see(4, at);
  EXPECT_FALSE(learned->known());
  learned->settle();
  EXPECT_EQ(learned->classes(), 5u);
  EXPECT_THAT(refusal([&] { learned->see(5, at); }), HasSubstr("give `classes` K"));
  EXPECT_THAT(refusal([&] { learned->see(1.5, at); }), HasSubstr("label 1.5 is not a class"));
}

}  // namespace
}  // namespace dasgd
