#include "dasgd/staleness/prefixes.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace dasgd {
namespace {

TEST(Prefixes, AreComparedOneByOneHoweverManyThereAre) {
  for (std::size_t n = 0; n < 70; ++n) {
    const std::vector<std::uint32_t> high(n, std::numeric_limits<std::uint32_t>::max());
    EXPECT_FALSE(any_beyond(high, high));
    for (std::size_t o = 0; o < n; ++o) {
      std::vector<std::uint32_t> lower = high;
      lower[o] = 5;
      EXPECT_TRUE(any_beyond(high, lower)) << o << " of " << n;
      EXPECT_FALSE(any_beyond(lower, high));
      std::vector<std::uint32_t> least = high;
      keep_least(least, lower);
      EXPECT_EQ(least, lower);
    }
  }
}

}  // namespace
}  // namespace dasgd
