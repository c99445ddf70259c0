#include "dasgd/data/rows/csv_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>

#include "dasgd/data/rows/csv_columns.hpp"
#include "dasgd/data/rows/csv_file.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::map<std::string, std::size_t> counts_of(const ColumnProfile& column) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [text, count] : column.values.entries()) counts[std::string(text)] = count;
  return counts;
}

CsvProfile profile(const std::string& text, std::size_t columns, char separator = ',') {
  return profile_csv(text, separator, columns, true);
}

TEST(CsvProfile, CountsFieldsHoweverTheyAreWritten) {
  const CsvProfile found = profile("Ulm,1\n \"Ulm\" ,2\n\"a \"\"b\"\"\", 3 \r\n\n,?\n", 2);
  EXPECT_EQ(found.rows, 4u);
  EXPECT_EQ(found.lines, 5u);
  EXPECT_THAT(counts_of(found.columns[0]), ElementsAre(Pair("Ulm", 2), Pair("a \"b\"", 1)));
  EXPECT_EQ(found.columns[0].missing, 1u);
  EXPECT_EQ(found.columns[1].fitting(FieldForm::number), 3u);
  EXPECT_EQ(found.columns[1].points.sum, 6);
}

TEST(CsvProfile, AQuotedNaIsATextAsItIsWhereRowsAreRead) {
  const std::string text = "city,x,y\n\"NA\",1,0\nNA,2,1\nUlm,3,0\n";
  EXPECT_EQ(profile(text.substr(9), 3).columns[0].missing, 1u);
  EXPECT_EQ(read_csv(text, "t.csv", {.missing = Missing::mean}).missing, 1u);
}

TEST(CsvProfile, PiecesKeepTheLinesOfWhatIsOdd) {
  std::string text;
  for (int i = 0; i < 800'000; ++i) text += std::to_string(i % 50) + ",0\n";
  const std::size_t line = 800'000;
  const CsvProfile found = profile(text + "1,2,3\n\nsoon,1\n" + text + "later,1\n4\n", 2);
  EXPECT_EQ(found.odd_rows, 2u);
  EXPECT_EQ(found.odd_line, line);
  EXPECT_EQ(found.columns[0].strays[0].text, "soon");
  EXPECT_EQ(found.columns[0].strays[0].line, line + 2);
  EXPECT_EQ(found.columns[0].present - found.columns[0].fitting(FieldForm::number), 2u);
  EXPECT_EQ(found.columns[0].values.size(), 52u);
}

TEST(CsvProfile, BeyondTheLimitOfDistinctNumbersRangesAndStraysAreStillFound) {
  std::string text;
  constexpr int count = 1'000'000;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + ",u" + std::to_string(i % 7) + "\n";
  const CsvProfile found = profile(text + "never,u0\n", 2);
  const ColumnProfile& numbers = found.columns[0];
  EXPECT_TRUE(numbers.more_values);
  EXPECT_EQ(numbers.values.size(), ColumnProfile::most_counted);
  EXPECT_EQ(numbers.present, std::size_t{count} + 1);
  EXPECT_EQ(numbers.points.most, count - 1);
  EXPECT_EQ(numbers.strays[0].text, "never");
  EXPECT_EQ(counts_of(found.columns[1]).at("u6"), 142'857u);
}

// Field by field, without a shortcut.
CsvProfile slow_profile(std::string_view text, std::size_t columns) {
  CsvProfile found;
  found.columns.resize(columns);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++found.lines;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const auto fields = csv_texts(line, ',');
    ++(fields.size() == columns ? found.rows : found.odd_rows);
    for (std::size_t c = 0; fields.size() == columns && c < columns; ++c) {
      if (means_missing(fields[c]))
        ++found.columns[c].missing;
      else
        found.columns[c].add(fields[c], found.lines - 1, 1);
    }
  }
  return found;
}

RC_GTEST_PROP(CsvProfile, FindsWhatLookingAtEveryFieldFinds, ()) {
  const auto piece = rc::gen::element<std::string>(
      ",", ",", ",", "\n", "\n", "1", "2.5", "-3", "1.234,5", "1e3", "0", "yes", "no", "Ulm", " ",
      "\t", "\r\n", "\"", "\"a,b\"", "\"1,5\"", "\"\"", "2024-05-31", "31.05.2024 12:30",
      "\xC3\xB6", "a long text of many words", "1e99", "inf", "+7", "00012.50");
  std::string text;
  for (const std::string& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
  const CsvProfile fast = profile(text, 2), slow = slow_profile(text, 2);
  RC_ASSERT(fast.rows == slow.rows);
  RC_ASSERT(fast.odd_rows == slow.odd_rows);
  for (std::size_t c = 0; c < 2; ++c) {
    const ColumnProfile &a = fast.columns[c], &b = slow.columns[c];
    RC_ASSERT(a.present == b.present);
    RC_ASSERT(a.missing == b.missing);
    RC_ASSERT(a.fits == b.fits);
    RC_ASSERT(a.times == b.times);
    RC_ASSERT(a.with_comma == b.with_comma);
    for (std::size_t k = 0; k < field_forms; ++k)
      RC_ASSERT(a.strays[k].text == b.strays[k].text && a.strays[k].line == b.strays[k].line);
    RC_ASSERT(a.endless == b.endless);
    RC_ASSERT(a.points.least == b.points.least);
    RC_ASSERT(a.commas.most == b.commas.most);
    RC_ASSERT(a.counted == a.present);
  }
}

}  // namespace
}  // namespace dasgd
