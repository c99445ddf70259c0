#include "dasgd/data/rows/csv_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/data/rows/libsvm.hpp"
#include "support/message.hpp"
#include "support/questionnaire.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveFloatEq;

class Csv : public ::testing::Test {
 protected:
  std::string refusal(const std::string& text, const TableOptions& options = {}) {
    return test::message_of<InputError>([&] {
      const RawData data = read_csv(text, "t.csv", options);
      if (options.classes) find_classes(data);
    });
  }
  static RawData read(const std::string& text, const TableOptions& options = {}) {
    return read_csv(text, "t.csv", options);
  }
  static std::vector<float> row(const RawData& data, std::size_t at) {
    std::vector<float> numbers(data.inputs->width());
    data.inputs->copy(at, numbers);
    return numbers;
  }
  static std::string table(int count) {
    std::string text = "a,b,class\n";
    for (int i = 0; i < count; ++i)
      text += std::to_string(i) + "," + std::to_string(-2 * i) + "," + std::to_string(i % 3) + "\n";
    return text;
  }
};

TEST_F(Csv, ReadsAHeaderNumbersAndClasses) {
  const RawData data = read(table(40));
  EXPECT_EQ(data.rows(), 40u);
  EXPECT_THAT(data.columns, ElementsAre("a", "b"));
  EXPECT_EQ(data.label, "class");
  EXPECT_THAT(row(data, 3), ElementsAre(3, -6));
  EXPECT_THAT(find_classes(data), ElementsAre("0", "1", "2"));
  EXPECT_EQ(to_classes(data, find_classes(data))[5], 2);
}

TEST_F(Csv, LargeWholeNumbersAreSortedAndNumbered) {
  const RawData data = read("a,zip\n1,99998\n2,100000\n3,123456789012\n4,10115\n");
  EXPECT_THAT(find_classes(data), ElementsAre("10115", "99998", "100000", "123456789012"));
  EXPECT_THAT(to_classes(data, find_classes(data)), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(refusal("a,y\n1,1e15\n2,3\n"), HasSubstr("which is not a class"));
}

TEST_F(Csv, ReadsEveryWayToWriteANumber) {
  const RawData data = read(
      "1,-2.5,+3,1e3,0\n .5 , 123456789012345678 ,1.25e-3,-0,1\r\n\n"
      "0.1,16777217,3.4e38,-1.17549435e-38,1\n1e-400,-2e-40,0e999,1e-9999999999,1");
  EXPECT_THAT(row(data, 0), ElementsAre(1, -2.5f, 3, 1000));
  EXPECT_THAT(row(data, 1), ElementsAre(0.5f, 123456789012345678.f, 1.25e-3f, 0));
  EXPECT_THAT(row(data, 2), ElementsAre(0.1f, 16777217.f, 3.4e38f, -1.17549435e-38f));
  EXPECT_THAT(row(data, 3), ElementsAre(0, -2e-40f, 0, 0)) << "as near to 0 as a number may be";
}

TEST_F(Csv, LabelsMayBeTextsInAnyColumnByNameOrNumber) {
  const std::string text = "kind,x\n\"red, dark\",1\nblue,2\n\"say \"\"hi\"\"\",3\n";
  for (const char* label : {"kind", "1"}) {
    const RawData data = read(text, {.label = label});
    EXPECT_THAT(find_classes(data), ElementsAre("blue", "red, dark", "say \"hi\""));
    EXPECT_THAT(to_classes(data, find_classes(data)), ElementsAre(1, 0, 2));
    EXPECT_EQ(data.label_at, 0u);
    EXPECT_THAT(data.columns, ElementsAre("x"));
  }
  EXPECT_THAT(refusal(text, {.label = "knd"}), HasSubstr("did you mean \"kind\""));
  EXPECT_THAT(refusal(text, {.label = "3"}), HasSubstr("has columns 1 to 2"));
  EXPECT_THAT(refusal("1,2\n3,4\n", {.label = "kind"}), HasSubstr("no header with names"));
  EXPECT_THAT(refusal(text, {.label = "kind", .classes = false}), HasSubstr("is not a number"));
}

TEST_F(Csv, ColumnsThatAreNoInputsAreLeftOut) {
  const std::string text = "id,date,\"a, b\",x,kind\n7,2024-01-01,1,2,oak\n8,soon,3,4,yew\n";
  for (const std::vector<std::string>& exclude :
       {std::vector<std::string>{"id,date"}, {"id", "date"}, {"1", "2"}}) {
    const RawData data = read(text, {.exclude = exclude});
    EXPECT_THAT(data.columns, ElementsAre("a, b", "x"));
    EXPECT_EQ(data.inputs->width(), 2u);
    EXPECT_THAT(find_classes(data), ElementsAre("oak", "yew"));
  }
  EXPECT_THAT(read(text, {.exclude = {"a, b", "id,date"}}).columns, ElementsAre("x"));
  EXPECT_THAT(refusal(text, {.exclude = {"dat"}}), HasSubstr("did you mean \"date\""));
  EXPECT_THAT(refusal(text, {.exclude = {"kind"}}), HasSubstr("that is the label"));
  EXPECT_THAT(refusal(text, {.exclude = {"id,date,3,x"}}), HasSubstr("a model needs one"));
  EXPECT_THAT(refusal("1,2,3\n", {.exclude = {"1"}}), HasSubstr("no header with names"));
}

TEST_F(Csv, LabelsThatAreMostlyGapsAreCountedInTheirOrder) {
  EXPECT_THAT(find_classes(read("1,0\n2,1000\n3,2000\n")), ElementsAre("0", "1000", "2000"));
  EXPECT_EQ(find_classes(read("1,0\n2,99\n")).size(), 100u);  // some may have no row yet
  std::string rows;
  for (int c = 0; c < 300; c += 2) rows += "1," + std::to_string(c) + "\n";
  EXPECT_EQ(find_classes(read(rows)).size(), 299u);
}

TEST_F(Csv, ClassesThatDoNotBeginAtZeroAreCountedInTheirOrder) {
  EXPECT_THAT(find_classes(read("1,1\n2,-1\n")), ElementsAre("-1", "1"));
  EXPECT_THAT(find_classes(read("1,7\n2,3\n")), ElementsAre("3", "7"));
  EXPECT_THAT(find_classes(read("1,0\n2,2\n")), ElementsAre("0", "1", "2"));
}

TEST_F(Csv, MissingNumbersAreRefusedDroppedOrMarked) {
  const std::string text = "a,b,y\n1,2,0\nNA,3,1\n4,,0\n5,6,?\n7,8,1\n";
  EXPECT_THAT(refusal(text), HasSubstr("t.csv:3: column 1: \"NA\" is a missing number"));
  const RawData dropped = read(text, {.missing = Missing::drop});
  EXPECT_EQ(dropped.rows(), 2u);
  EXPECT_EQ(dropped.dropped, 3u);
  EXPECT_THAT(dropped.numbers, ElementsAre(0, 4));
  EXPECT_THAT(row(dropped, 1), ElementsAre(7, 8));
  EXPECT_THAT(refusal(text, {.missing = Missing::mean}),
              HasSubstr("t.csv:5: column 3: \"?\" is a missing number; `missing` drop"));
  const RawData marked = read("a,b,y\n1,2,0\nNA,3,1\n", {.missing = Missing::mean});
  EXPECT_THAT(row(marked, 1), ElementsAre(NanSensitiveFloatEq(NAN), 3));
}

TEST_F(Csv, TheColumnsOfAModelAreFoundByNameOrByOrder) {
  Preprocessing model;
  model.shape = {2};
  model.columns = {"b", "a"};
  model.label = "class";
  model.label_at = 2;
  const RawData named = read("id,a,b\n9,1,2\n", {.like = &model});
  EXPECT_THAT(row(named, 0), ElementsAre(2, 1));
  EXPECT_TRUE(named.labels.values.empty());
  EXPECT_EQ(read("a,class,b\n1,0,2\n", {.like = &model}).labels.values.size(), 1u);
  EXPECT_THAT(row(read("1,2\n", {.like = &model}), 0), ElementsAre(1, 2));
  EXPECT_THAT(row(read("1,2,0\n", {.like = &model}), 0), ElementsAre(1, 2));
  EXPECT_THAT(refusal("a,c\n1,2\n", {.like = &model}), HasSubstr("has no column \"b\""));
  EXPECT_THAT(refusal("1,2,3,4\n", {.like = &model}),
              HasSubstr("has 4 columns; the model takes 2"));
}

TEST_F(Csv, ALabelIsFoundByItsOrderBesideColumnsThatWereExcluded) {
  Preprocessing model;
  model.shape = {2};
  for (const auto& [text, without] :
       {std::pair("id,a,y,b\n9,1,0,2\n", "1,7,2\n"), {"id,a,b,y\n9,1,2,0\n", "1,2,7\n"}}) {
    model.label_at = read(text, {.label = "y", .exclude = {"id"}}).label_at;
    const RawData asked = read(without, {.like = &model});
    EXPECT_THAT(row(asked, 0), ElementsAre(1, 2));
    EXPECT_THAT(asked.labels.values, ElementsAre(7));
  }
}

TEST_F(Csv, ALabelMayBeMissingOnlyWhereNobodyNeedsIt) {
  Preprocessing model;
  model.shape = {1};
  model.columns = {"a"};
  model.label = "y";
  model.fill = {0};
  const std::string text = "a,y\n1,0\n2,\n3,1\n";
  EXPECT_THAT(refusal(text, {.missing = Missing::mean, .like = &model}),
              HasSubstr("t.csv:3: column 2 is empty; `missing` drop leaves rows without a label"));
  const RawData judged = read(text, {.missing = Missing::drop, .like = &model});
  EXPECT_THAT(judged.labels.values, ElementsAre(0, 1));
  const RawData asked =
      read(text, {.missing = Missing::drop, .needs_labels = false, .like = &model});
  EXPECT_EQ(asked.rows(), 3u);
}

TEST_F(Csv, ColumnsOfTheSameNameAreDistinguished) {
  const std::string text = "a,a,,,y\n1,2,3,4,0\n5,6,7,9,1\n";
  const RawData data = read(text);
  EXPECT_THAT(data.columns, ElementsAre("a", "a (2)", "", " (2)"));
  Preprocessing model;
  model.shape = data.shape;
  model.columns = data.columns;
  model.label = data.label;
  const RawData asked = read("y,a,,a,\n0,1,2,3,4\n", {.like = &model});
  EXPECT_THAT(row(asked, 0), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(read(text, {.label = "a (2)"}).label_at, 1u);
}

TEST_F(Csv, RefusesWhatIsNotATable) {
  EXPECT_THAT(refusal(table(40) + "1,2\n"), HasSubstr("t.csv:42: has 2 columns; 3 are expected"));
  EXPECT_THAT(refusal(table(40) + "1,2,3,4\n"), HasSubstr("t.csv:42: has 4 columns"));
  EXPECT_THAT(refusal(table(40) + "1,x,2\n"),
              HasSubstr("t.csv:42: column 2: \"x\" is not a number"));
  EXPECT_THAT(refusal(table(40) + "1,2,-1\n"), HasSubstr("row 41 has target -1"));
  EXPECT_THAT(refusal(table(40) + "1,2,0.5\n"), HasSubstr("for numbers use `model` linear"));
  EXPECT_THAT(refusal("1,1e300,0\n"), HasSubstr("column 2: \"1e300\" is beyond the range"));
  EXPECT_THAT(refusal("1,inf,0\n"), HasSubstr("column 2: \"inf\" is not finite"));
  EXPECT_THAT(refusal(table(40) + "1,a\x1b[2Jb,2\n"),
              HasSubstr("t.csv:42: column 2: \"a?[2Jb\" is not a number; `exclude` b leaves"));
  EXPECT_THAT(refusal("1,\"2,0\n"), HasSubstr("quote is not closed"));
  EXPECT_THAT(refusal("a,b\n"), HasSubstr("holds no rows"));
  EXPECT_THAT(refusal(std::string("\x89PNG\r\n\0\0,", 9)), HasSubstr("is not text"));
}

TEST_F(Csv, PiecesOfALargeFileKeepTheirOrderAndTheirLineNumbers) {
  std::string text;
  constexpr int count = 600'000;  // several pieces
  for (int i = 0; i < count; ++i)
    text += std::to_string(i) + ",2,class" + std::to_string(i % 2) + "\n";
  const RawData data = read(text);
  ASSERT_EQ(data.rows(), static_cast<std::size_t>(count));
  for (std::size_t r = 0; r < count; r += 99'999) EXPECT_EQ(row(data, r)[0], static_cast<float>(r));
  EXPECT_EQ(to_classes(data, find_classes(data)).back(), 1);
  EXPECT_THAT(refusal(text + "1,b,a\n"), HasSubstr("t.csv:600001: column 2"));
}

TEST(LibsvmTable, RowsAreWrittenOutWithTheirZeros) {
  const test::TemporaryDirectory directory;
  const auto made = test::questionnaire(8000, "1", "2");
  const std::string path = directory.write("made", made.text);
  const RawData data = dense(read_libsvm_any(path), path);
  EXPECT_EQ(data.rows(), made.rows);
  EXPECT_THAT(find_classes(data), ElementsAre("1", "2"));
}

}  // namespace
}  // namespace dasgd
