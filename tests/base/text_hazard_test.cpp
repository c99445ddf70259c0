#include "dasgd/base/text_hazard.hpp"

#include <gtest/gtest.h>
#include <string>

namespace dasgd {
namespace {

std::string times(int n, const std::string& text) {
  std::string result;
  for (int k = 0; k < n; ++k) result += text;
  return result;
}

std::optional<std::size_t> line_of_hazard(const std::string& text) {
  const auto hazard = find_text_hazard(text);
  return hazard ? std::optional(hazard->line) : std::nullopt;
}

TEST(TextHazard, BracketsBracesAndDotsOfKeysAreCounted) {
  EXPECT_EQ(line_of_hazard("a = " + times(32, "[") + times(32, "]")), std::nullopt);
  EXPECT_EQ(line_of_hazard("x = 1\na = " + times(33, "[")), 2u);
  EXPECT_EQ(line_of_hazard("\n\n" + times(40, "{\"a\":[\n")), 2u + 17u);
  EXPECT_EQ(line_of_hazard(times(33, "a.") + "a = 1"), 1u);
  EXPECT_EQ(line_of_hazard("[" + times(33, "\"a\" . ") + "a]"), 1u);
  EXPECT_EQ(line_of_hazard(times(32, "a.") + "a = 1"), std::nullopt);
}

TEST(TextHazard, WhatIsLongButFlatIsNot) {
  EXPECT_EQ(line_of_hazard("a = [" + times(1000, "0.5, ") + "]"), std::nullopt);
  EXPECT_EQ(line_of_hazard(times(1000, "[a.b]\nc.d = 1.5\n")), std::nullopt);
}

TEST(TextHazard, StringsAndCommentsDoNotCount) {
  const std::string deep = times(100, "[.");
  for (const std::string& text :
       {"a = \"" + deep + "\"", "a = '" + deep + "'", "# " + deep, "a = \"\\\"" + deep + "\"",
        "a = \"\"\"\n\"" + deep + "\n\"\"\"", "a = '''\n'" + deep + "\n'''", "a = \"" + deep,
        std::string("a = '\\'\nb = 1 #")})
    EXPECT_EQ(line_of_hazard(text), std::nullopt) << text;
  EXPECT_EQ(line_of_hazard("a = \"\"\"\n\n\"\"\"\nb = '\\'\nc = " + deep), 5u);
  EXPECT_EQ(line_of_hazard("# \"\nc = " + deep), 2u);
}

TEST(TextHazard, LettersBeyondAsciiStandInStringsAndComments) {
  EXPECT_EQ(line_of_hazard("\xEF\xBB\xBF# \u00e9\na = \"\u00e9\"\nb = '\u3042'\n"), std::nullopt);
  for (const std::string where :
       {"mod\u00e8le = 1", "a = \u3042", "\uFEFE", "\"\"\"\\\n\u00e9\"\"\""}) {
    const auto hazard = find_text_hazard("\n" + where);
    ASSERT_TRUE(hazard) << where;
    EXPECT_EQ(hazard->line, 2u) << where;
    EXPECT_TRUE(hazard->what.starts_with("has a character beyond ASCII")) << hazard->what;
  }
}

}  // namespace
}  // namespace dasgd
