#include "dasgd/data/batches.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace dasgd {
namespace {

std::vector<std::uint32_t> take(Batches& batches, std::size_t count) {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const auto batch = batches.next();
    rows.insert(rows.end(), batch->begin(), batch->end());
  }
  return rows;
}

TEST(Batches, DealEverySampleToExactlyOneWorker) {
  std::map<std::uint32_t, int> seen;
  for (std::size_t w = 0; w < 3; ++w) {
    Batches batches(1, worker_id(w), 3, 100, 7);
    for (const std::uint32_t row : take(batches, batches.per_epoch())) ++seen[row];
  }
  EXPECT_EQ(seen.size(), 100u);
  for (const auto& [row, count] : seen) EXPECT_EQ(count, 1) << row;
}

TEST(Batches, EachEpochHoldsTheShareOnceInANewOrder) {
  Batches batches(1, WorkerId{0}, 2, 100, 8);
  EXPECT_EQ(batches.per_epoch(), 7u);
  auto first = take(batches, 7), second = take(batches, 7);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.size(), 50u);
}

TEST(Batches, AreAPureFunctionOfSeedWorkerAndEpoch) {
  Batches a(5, WorkerId{1}, 4, 1000, 32), b(5, WorkerId{1}, 4, 1000, 32);
  Batches disturbance(5, WorkerId{2}, 4, 1000, 32);
  for (int i = 0; i < 50; ++i) {
    const auto p = take(a, 1);
    take(disturbance, 1);
    const auto q = take(b, 1);
    EXPECT_EQ(p, q);
  }
  Batches other_seed(6, WorkerId{1}, 4, 1000, 32), fresh(5, WorkerId{1}, 4, 1000, 32);
  EXPECT_NE(take(other_seed, 1), take(fresh, 1));
}

TEST(Batches, AWorkerWithoutSamplesHasNoBatch) {
  std::size_t empty = 0;
  for (std::size_t w = 0; w < 5; ++w) {
    Batches batches(1, worker_id(w), 5, 3, 2);
    if (batches.per_epoch() > 0) continue;
    EXPECT_FALSE(batches.next().has_value());
    ++empty;
  }
  EXPECT_EQ(empty, 2u);
}

TEST(Batches, ZeroMeansTheWholeDataSetForEverybody) {
  Batches batches(1, WorkerId{3}, 8, 10, 0);
  EXPECT_EQ(take(batches, 1).size(), 10u);
  EXPECT_EQ(batches.per_epoch(), 1u);
}

}  // namespace
}  // namespace dasgd
