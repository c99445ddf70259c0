#include "dasgd/base/utf8.hpp"

#include <gtest/gtest.h>
#include <string>

namespace dasgd {
namespace {

TEST(Utf8, TextIsTextAndOtherBytesAreNot) {
  for (const std::string text : {"", "a/b", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "a\n"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const std::string bytes :
       {"\xFF", "\x80", "\xC3", "\xC3(", "\xE2\x82", "\xE2\x28\xA1", "\xC0\xAF", "\xE0\x80\xAF",
        "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "caf\xE9"})
    EXPECT_FALSE(is_utf8(bytes));
}

}  // namespace
}  // namespace dasgd
