#include "dasgd/data/draws/batches.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

std::vector<std::uint32_t> take(Batches& batches, std::size_t count) {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const Draw draw = batches.next();
    rows.insert(rows.end(), draw.rows.begin(), draw.rows.end());
  }
  return rows;
}

TEST(Batches, EveryWorkerDrawsFromAllSamples) {
  for (std::size_t w = 0; w < 3; ++w) {
    Batches batches({.workers = 3, .samples = 100, .batch = 7}, worker_id(w));
    auto rows = take(batches, batches.shape().per_pass());
    std::sort(rows.begin(), rows.end());
    ASSERT_EQ(rows.size(), 100u);
    for (std::uint32_t k = 0; k < 100; ++k) EXPECT_EQ(rows[k], k);
  }
}

TEST(Batches, ShardsDealEverySampleToExactlyOneWorker) {
  std::map<std::uint32_t, int> seen;
  for (std::size_t w = 0; w < 3; ++w) {
    Batches batches({.sampling = Sampling::shards, .workers = 3, .samples = 100, .batch = 7},
                    worker_id(w));
    for (const std::uint32_t row : take(batches, batches.shape().per_pass())) ++seen[row];
  }
  EXPECT_EQ(seen.size(), 100u);
  for (const auto& [row, count] : seen) EXPECT_EQ(count, 1) << row;
}

TEST(Batches, EachPassHoldsTheShareOnceInANewOrder) {
  Batches batches({.sampling = Sampling::shards, .workers = 2, .samples = 100, .batch = 8},
                  WorkerId{0});
  EXPECT_EQ(batches.shape().per_pass(), 7u);
  auto first = take(batches, 7), second = take(batches, 7);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.size(), 50u);
}

TEST(Batches, AreAPureFunctionOfSeedWorkerAndNumber) {
  const Batches::Options options{.seed = 5, .workers = 4, .samples = 1000, .batch = 32};
  Batches a(options, WorkerId{1}), b(options, WorkerId{1}), disturbance(options, WorkerId{2});
  std::set<std::vector<std::uint32_t>> different;
  for (int i = 0; i < 50; ++i) {
    const auto p = take(a, 1), q = take(disturbance, 1);
    EXPECT_EQ(p, take(b, 1));
    different.insert(p);
    different.insert(q);
  }
  EXPECT_EQ(different.size(), 100u);
  Batches other_workers({.seed = 5, .workers = 9, .samples = 1000, .batch = 32}, WorkerId{1});
  Batches fresh(options, WorkerId{1});
  EXPECT_EQ(take(other_workers, 10), take(fresh, 10)) << "the number of workers says nothing";
}

TEST(Batches, TheUpcomingOneIsTheNextAlsoAcrossPasses) {
  Batches batches({.samples = 10, .batch = 4}, WorkerId{0});
  for (int i = 0; i < 20; ++i) {
    const Draw now = batches.next();
    EXPECT_EQ(now.number, static_cast<std::uint64_t>(i));
    const std::vector<std::uint32_t> rows(now.rows.begin(), now.rows.end());
    const std::vector<std::uint32_t> expected(now.upcoming.begin(), now.upcoming.end());
    Batches again({.samples = 10, .batch = 4}, WorkerId{0});
    again.seek(now.number);
    EXPECT_EQ(take(again, 1), rows) << "the rows at hand stay as they are";
    Batches ahead({.samples = 10, .batch = 4}, WorkerId{0});
    ahead.seek(static_cast<std::uint64_t>(i) + 1);
    EXPECT_EQ(take(ahead, 1), expected);
  }
}

TEST(Batches, AWorkerWithoutAShardHasNoBatch) {
  std::size_t empty = 0;
  for (std::size_t w = 0; w < 5; ++w) {
    Batches batches({.sampling = Sampling::shards, .workers = 5, .samples = 3, .batch = 2},
                    worker_id(w));
    if (batches.shape().share > 0) continue;
    EXPECT_EQ(batches.next().kind, Draw::Kind::no_more);
    ++empty;
  }
  EXPECT_EQ(empty, 2u);
}

TEST(Batches, ZeroMeansTheWholeDataSetForEverybody) {
  Batches batches({.sampling = Sampling::shards, .workers = 8, .samples = 10}, WorkerId{3});
  EXPECT_EQ(take(batches, 1).size(), 10u);
  EXPECT_EQ(batches.shape().per_pass(), 1u);
}

TEST(Sampling, IsReadAndShown) {
  for (const Sampling sampling : {Sampling::own, Sampling::shards})
    EXPECT_EQ(parse_sampling(to_string(sampling)), sampling);
  EXPECT_THROW(parse_sampling("share"), InputError);
}

}  // namespace
}  // namespace dasgd
