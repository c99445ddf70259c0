#include "dasgd/base/one_line.hpp"

#include <gtest/gtest.h>

#include "dasgd/base/input_error.hpp"

namespace dasgd {
namespace {

TEST(OneLine, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(one_line("a\nb\tc\x1b[2J\x7f"), "a\\nb\\tc\\x1b[2J\\x7f");
  EXPECT_EQ(one_line(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(one_line("grüße, 100 %"), "grüße, 100 %");
}

TEST(OneLine, AMistakeIsReportedInOne) {
  EXPECT_STREQ(InputError("model = \"a\nb\"").what(), "model = \"a\\nb\"");
}

}  // namespace
}  // namespace dasgd
