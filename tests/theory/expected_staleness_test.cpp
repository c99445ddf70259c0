#include "dasgd/theory/expected_staleness.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace dasgd::theory {
namespace {

void expect(const ExpectedStaleness& found, double S_avg, double S_max) {
  EXPECT_DOUBLE_EQ(found.S_avg, S_avg);
  EXPECT_DOUBLE_EQ(found.S_max, S_max);
}

TEST(ExpectedStaleness, PublishedFiguresAreThoseOfThePaper) {
  expect(published_full(5), 3, 5);
  expect(published_ring(5), 13, 25);
}

// S_avg is the sum of the rounds from everywhere and (n - 1) / 2, S_max is n (e + 1) - 1.
TEST(ExpectedStaleness, OnTheFullGraphDependsOnLatencyAndPhases) {
  expect(one_round_later(5), 4 + 2, 9);
  expect(full_at_zero_latency(5), 2, 4);
  expect(full_with_spread_phases(5), 4, 5);
}

TEST(ExpectedStaleness, WithRelayOnApplicationIsThatOfTheHops) {
  expect(directed_ring_on_application(5), (1 + 2 + 3 + 4) + 2, 24);
  expect(ring_on_application(5), (1 + 1 + 2 + 2) + 2, 14);
  expect(ring_on_application(6), (1 + 1 + 2 + 2 + 3) + 2.5, 23);
  // Rows of 6, columns of 4: 4 times the hops of a ring of 6 and 6 times those of one of 4.
  expect(torus_on_application(4, 6), 4 * 9 + 6 * 4 + 11.5, 24 * 6 - 1);
  // The centre has 4 at 1; the others have 1 at 1 and 3 at 2: on average (4 + 4 * 7) / 5.
  expect(star_on_application(5), 32.0 / 5 + 2, 14);
  expect(star_on_application(2), 1 + 0.5, 3);
}

/// Gradient k of a worker knows gradient m of the other if m + rounds < k.
std::uint64_t counted(std::uint64_t B, std::uint64_t out, std::uint64_t in) {
  std::uint64_t pairs = 0;
  for (std::uint64_t k = 0; k < B; ++k)
    for (std::uint64_t m = 0; m < B; ++m) pairs += k + out < m || m + in < k ? 0 : 1;
  return pairs;
}

TEST(ConcurrentPairs, AreThoseThatDoNotKnowEachOther) {
  for (const std::uint64_t B : {1u, 2u, 7u})
    for (std::uint64_t out = 0; out <= 8; ++out)
      for (std::uint64_t in = 0; in <= 8; ++in)
        EXPECT_EQ(concurrent_pairs(B, out, in), counted(B, out, in)) << B << out << in;
}

TEST(SumOfStaleness, IsOverAllPairsOfWorkers) {
  const auto rounds = [](std::size_t from, std::size_t to) { return 2 * from + to; };
  std::uint64_t all = 0;
  for (std::size_t j = 0; j < 4; ++j)
    for (std::size_t l = 0; l < j; ++l) all += counted(7, rounds(l, j), rounds(j, l));
  EXPECT_EQ(sum_of_staleness(4, 7, rounds), all);
  EXPECT_EQ(sum_of_staleness_with_spread_phases(4, 7), 6 * (7 + 6));
}

}  // namespace
}  // namespace dasgd::theory
