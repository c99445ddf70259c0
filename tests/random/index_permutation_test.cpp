#include "dasgd/random/index_permutation.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace dasgd {
namespace {

TEST(IndexPermutation, HoldsEveryIndexOnce) {
  for (std::uint32_t size = 1; size < 300; ++size) {
    const IndexPermutation order(size, Random(3, Purpose::test, size));
    std::set<std::uint32_t> seen;
    for (std::uint32_t k = 0; k < size; ++k) seen.insert(order[k]);
    ASSERT_EQ(seen.size(), size);
    ASSERT_EQ(*seen.rbegin(), size - 1);
  }
}

// Chi-square over which index comes at which place, with fixed seeds.
TEST(IndexPermutation, PutsEveryIndexAnywhereEquallyOften) {
  for (const std::uint32_t size : {2u, 5u, 10u, 33u}) {
    constexpr std::uint32_t draws = 20'000;
    std::vector<double> count(size * size, 0);
    for (std::uint32_t s = 0; s < draws; ++s) {
      const IndexPermutation order(size, Random(s, Purpose::test));
      for (std::uint32_t k = 0; k < size; ++k) ++count[k * size + order[k]];
    }
    const double expected = static_cast<double>(draws) / size;
    double chi = 0;
    for (const double c : count) chi += (c - expected) * (c - expected) / expected;
    const double freedom = static_cast<double>((size - 1) * (size - 1));
    EXPECT_LT(chi, freedom + 6 * std::sqrt(2 * freedom)) << size;
  }
}

// Neighbours of one order are not neighbours in another: the next index is uniform too.
TEST(IndexPermutation, WhatFollowsAnIndexIsAnyOther) {
  constexpr std::uint32_t size = 16, draws = 20'000;
  std::vector<double> count(size * size, 0);
  for (std::uint32_t s = 0; s < draws; ++s) {
    const IndexPermutation order(size, Random(s, Purpose::test));
    for (std::uint32_t k = 0; k + 1 < size; ++k) ++count[order[k] * size + order[k + 1]];
  }
  const double expected = static_cast<double>(draws) * (size - 1) / (size * (size - 1));
  double chi = 0;
  for (std::uint32_t a = 0; a < size; ++a)
    for (std::uint32_t b = 0; b < size; ++b)
      if (a != b)
        chi += (count[a * size + b] - expected) * (count[a * size + b] - expected) / expected;
  const double freedom = size * (size - 1) - 1;
  EXPECT_LT(chi, freedom + 6 * std::sqrt(2 * freedom));
}

}  // namespace
}  // namespace dasgd
