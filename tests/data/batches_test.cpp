#include "dasgd/data/draws/batches.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <set>

#include "dasgd/core/error.hpp"
#include "dasgd/data/draws/label_shares.hpp"

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

TEST(Batches, MoreSamplesThanRowsHaveNumbersAreRefused) {
  const std::size_t most = std::numeric_limits<std::uint32_t>::max();
  Batches batches({.samples = most, .batch = 7}, WorkerId{0});
  EXPECT_EQ(take(batches, 1).size(), 7u);
  EXPECT_THROW(Batches({.samples = most + 1, .batch = 7}, WorkerId{0}), InputError);
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

TEST(Batches, IndependentDrawsAreWithReplacementAndAFunctionOfSeedWorkerAndNumber) {
  const Batches::Options options{
      .seed = 3, .sampling = Sampling::independent, .workers = 2, .samples = 50, .batch = 20};
  Batches a(options, WorkerId{1}), b(options, WorkerId{1}), other(options, WorkerId{0});
  std::map<std::uint32_t, int> seen;
  std::size_t repeated = 0;
  for (int k = 0; k < 2000; ++k) {
    const auto rows = take(a, 1);
    ASSERT_EQ(rows.size(), 20u) << "every batch is a whole one";
    EXPECT_NE(rows, take(other, 1));
    if (k % 500 == 7) {
      b.seek(static_cast<std::uint64_t>(k));
      EXPECT_EQ(take(b, 1), rows);
    }
    repeated += std::set(rows.begin(), rows.end()).size() < rows.size();
    for (const std::uint32_t row : rows) ++seen[row];
  }
  EXPECT_GT(repeated, 1800u);
  ASSERT_EQ(seen.size(), 50u);
  for (const auto& [row, count] : seen) EXPECT_NEAR(count, 800, 150) << row;
  Batches large({.sampling = Sampling::independent, .samples = 3, .batch = 10}, WorkerId{0});
  EXPECT_EQ(take(large, 1).size(), 10u);
}

TEST(Batches, SharesSkewedByLabelAreAsLargeAsShardsAndHoldEverySampleOnce) {
  std::vector<std::uint32_t> labels(1003);
  for (std::uint32_t row = 0; row < labels.size(); ++row) labels[row] = row % 10;
  // The largest share of one class at a worker, on average.
  const auto skew = [&](double alpha) {
    const auto shares = deal_by_label(labels, 8, alpha, 4);
    std::set<std::uint32_t> dealt;
    double sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const auto shard = batch_shape(Sampling::shards, worker_id(i), 8, labels.size(), 4);
      EXPECT_EQ(shares[i].size(), shard.share);
      std::map<std::uint32_t, int> classes;
      for (const std::uint32_t row : shares[i]) {
        EXPECT_TRUE(dealt.insert(row).second) << row;
        ++classes[labels[row]];
      }
      int most = 0;
      for (const auto& [label, count] : classes) most = std::max(most, count);
      sum += static_cast<double>(most) / static_cast<double>(shares[i].size());
    }
    EXPECT_EQ(dealt.size(), labels.size());
    return sum / 8;
  };
  const double strong = skew(0.1), weak = skew(10), none = skew(1e6);
  EXPECT_GT(strong, 0.45);
  EXPECT_LT(weak, strong);
  EXPECT_LT(none, 0.2) << "0.1 where all classes are equally frequent";
  EXPECT_EQ(deal_by_label(labels, 8, 0.1, 4), deal_by_label(labels, 8, 0.1, 4));
  Batches batches({.seed = 4,
                   .sampling = {Sampling::dirichlet, 0.1},
                   .workers = 8,
                   .samples = labels.size(),
                   .batch = 4,
                   .labels = labels},
                  WorkerId{5});
  auto pass = take(batches, batches.shape().per_pass());
  auto share = deal_by_label(labels, 8, 0.1, 4)[5];
  std::ranges::sort(pass);
  std::ranges::sort(share);
  EXPECT_EQ(pass, share);
  EXPECT_THROW(
      Batches({.sampling = {Sampling::dirichlet, 1}, .samples = 9, .batch = 1}, WorkerId{0}),
      InputError);
}

TEST(Sampling, IsReadAndShown) {
  for (const Sampling& sampling :
       {Sampling(Sampling::own), Sampling(Sampling::shards), Sampling(Sampling::independent),
        Sampling(Sampling::dirichlet, 0.25), Sampling(Sampling::dirichlet, 100)})
    EXPECT_EQ(parse_sampling(to_string(sampling)), sampling);
  for (const char* text : {"share", "dirichlet", "dirichlet:", "dirichlet:0", "dirichlet:-1",
                           "dirichlet:nan", "dirichlet:1x", "dirichlet:ALPHA"})
    EXPECT_THROW(parse_sampling(text), InputError) << text;
}

}  // namespace
}  // namespace dasgd
