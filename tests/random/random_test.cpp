#include "dasgd/random/random.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <set>

namespace dasgd {
namespace {

TEST(Random, IsPhiloxWithItsPublishedTestVector) {
  Random random(0, static_cast<Purpose>(0));
  EXPECT_EQ(random.bits(), 0x6627e8d5u);
  EXPECT_EQ(random.bits(), 0xe169c58du);
  EXPECT_EQ(random.bits(), 0xbc57ac4cu);
  EXPECT_EQ(random.bits(), 0x9b00dbd8u);
}

TEST(Random, StreamsDifferInSeedPurposeAndIndices) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed : {1ull, 2ull, 1ull << 32})
    for (auto purpose : {Purpose::shards, Purpose::graph})
      for (std::uint32_t a : {0u, 1u})
        for (std::uint32_t b : {0u, 1u}) first.insert(Random(seed, purpose, a, b).bits64());
  EXPECT_EQ(first.size(), 24u);
}

TEST(Random, UniformNumbersFillTheUnitInterval) {
  Random random(1, Purpose::test);
  double sum = 0, low = 1, high = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = random.uniform();
    sum += u;
    low = std::min(low, u);
    high = std::max(high, u);
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
  EXPECT_GE(low, 0.0);
  EXPECT_LT(high, 1.0);
}

TEST(Random, NormalNumbersHaveMeanZeroAndVarianceOne) {
  Random random(1, Purpose::test);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / 100'000, 0, 0.015);
  EXPECT_NEAR(squares / 100'000, 1, 0.02);
}

TEST(Random, BelowIsEvenlySpread) {
  Random random(1, Purpose::test);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Random, PermutationsHoldEveryIndexOnce) {
  auto order = permutation(1000, Random(5, Purpose::test));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
}

}  // namespace
}  // namespace dasgd
