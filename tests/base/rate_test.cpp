#include <gtest/gtest.h>

#include "dasgd/base/input_error.hpp"
#include "dasgd/base/units.hpp"

namespace dasgd::test {
namespace {

TEST(Rate, IsReadInBitsAndBytes) {
  EXPECT_EQ(parse_rate("1Gbit"), 125e6);
  EXPECT_EQ(parse_rate("100Mbit/s"), 12.5e6);
  EXPECT_EQ(parse_rate("12.5MB"), 12.5e6);
  EXPECT_EQ(parse_rate("800bit"), 100);
  EXPECT_EQ(parse_rate("125000"), 125e3);
  for (const char* bad : {"", "Gbit", "1Gb", "1gbit", "0", "-1Mbit", "1 Gbit", "inf", "1e999", "x"})
    EXPECT_THROW(parse_rate(bad), InputError) << bad;
}

TEST(Many, IsReadWithOrWithoutAUnit) {
  EXPECT_EQ(parse_many("93322"), 93322);
  EXPECT_EQ(parse_many("11M"), 11e6);
  EXPECT_EQ(parse_many("1.5G"), 1.5e9);
  for (const char* bad : {"", "M", "0", "-1", "1X", "1 M", "inf", "1e99"})
    EXPECT_THROW(parse_many(bad), InputError) << bad;
}

TEST(Rate, IsShownInBits) {
  EXPECT_EQ(show_rate(125e6), "1 Gbit/s");
  EXPECT_EQ(show_rate(12.5e6), "100 Mbit/s");
  EXPECT_EQ(show_rate(0), "0 bit/s");
}

}  // namespace
}  // namespace dasgd::test
