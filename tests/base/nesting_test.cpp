#include "dasgd/base/nesting.hpp"

#include <gtest/gtest.h>
#include <string>

namespace dasgd {
namespace {

std::string times(int n, const std::string& text) {
  std::string result;
  for (int k = 0; k < n; ++k) result += text;
  return result;
}

TEST(Nesting, BracketsBracesAndDotsOfKeysAreCounted) {
  EXPECT_EQ(line_nested_too_deep("a = " + times(32, "[") + times(32, "]")), std::nullopt);
  EXPECT_EQ(line_nested_too_deep("x = 1\na = " + times(33, "[")), 2u);
  EXPECT_EQ(line_nested_too_deep("\n\n" + times(40, "{\"a\":[\n")), 2u + 17u);
  EXPECT_EQ(line_nested_too_deep(times(33, "a.") + "a = 1"), 1u);
  EXPECT_EQ(line_nested_too_deep("[" + times(33, "\"a\" . ") + "a]"), 1u);
  EXPECT_EQ(line_nested_too_deep(times(32, "a.") + "a = 1"), std::nullopt);
}

TEST(Nesting, WhatIsLongButFlatIsNot) {
  EXPECT_EQ(line_nested_too_deep("a = [" + times(1000, "0.5, ") + "]"), std::nullopt);
  EXPECT_EQ(line_nested_too_deep(times(1000, "[a.b]\nc.d = 1.5\n")), std::nullopt);
}

TEST(Nesting, StringsAndCommentsDoNotCount) {
  const std::string deep = times(100, "[.");
  for (const std::string& text :
       {"a = \"" + deep + "\"", "a = '" + deep + "'", "# " + deep, "a = \"\\\"" + deep + "\"",
        "a = \"\"\"\n\"" + deep + "\n\"\"\"", "a = '''\n'" + deep + "\n'''", "a = \"" + deep,
        std::string("a = '\\'\nb = 1 #")})
    EXPECT_EQ(line_nested_too_deep(text), std::nullopt) << text;
  EXPECT_EQ(line_nested_too_deep("a = \"\"\"\n\n\"\"\"\nb = '\\'\nc = " + deep), 5u);
  EXPECT_EQ(line_nested_too_deep("# \"\nc = " + deep), 2u);
}

}  // namespace
}  // namespace dasgd
