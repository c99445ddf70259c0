#include "dasgd/run/budget.hpp"

#include <gtest/gtest.h>

namespace dasgd {
namespace {

TEST(Budget, PlansWithTheSmallerLastBatchOfAPass) {
  const TrainOptions own{.workers = 3, .batch = 400, .epochs = 10};
  EXPECT_DOUBLE_EQ(*planned_gradients(own, 403), 20);
  TrainOptions shards = own;
  shards.sampling = Sampling::shards;
  EXPECT_DOUBLE_EQ(*planned_gradients(shards, 403), 30) << "each pass is three batches of 134";
  EXPECT_DOUBLE_EQ(*planned_gradients({.workers = 3, .gradients = {7}}, 403), 21);
  EXPECT_DOUBLE_EQ(*planned_gradients({.workers = 3, .total_gradients = 5, .epochs = 10}, 403), 5);
  EXPECT_FALSE(planned_gradients({.workers = 3, .max_time = std::chrono::seconds(1)}, 403));
}

TEST(Budget, PlansWithWholeBatchesOfIndependentDraws) {
  const TrainOptions options{.batch = 200, .sampling = Sampling::independent, .epochs = 20};
  EXPECT_DOUBLE_EQ(*planned_gradients(options, 300), 30);
  SharedBudget budget(options, 300);
  int made = 0;
  while (budget.claim(200)) ++made;
  EXPECT_EQ(made, 30);
}

TEST(Budget, TheLastClaimIsTheOneThatReachesIt) {
  int notified = 0;
  SharedBudget budget({.workers = 2, .batch = 8, .epochs = 1}, 20, [&] { ++notified; });
  EXPECT_TRUE(budget.claim(8));
  EXPECT_TRUE(budget.claim(8));
  EXPECT_TRUE(budget.claim(8)) << "16 of 20 are used";
  EXPECT_FALSE(budget.claim(8));
  EXPECT_FALSE(budget.claim(8));
  EXPECT_EQ(notified, 1);
}

TEST(Budget, MorePassesThanCanBeCountedAreNeverUsedUp) {
  SharedBudget budget({.workers = 1, .batch = 8, .epochs = 1e300}, 20);
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_TRUE(budget.claim(8));
}

TEST(Budget, WhatOthersHaveDoneCounts) {
  SharedBudget budget({.workers = 2, .total_gradients = 3}, 20);
  budget.hear(5);
  budget.hear(5);
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_TRUE(budget.claim(1));
  EXPECT_TRUE(budget.is_used_up());
}

TEST(Budget, ABatchThatBecameNoGradientIsGivenAgainAndCountedOnce) {
  const TrainOptions options{.workers = 1, .batch = 8, .total_gradients = 2};
  SharedBudget budget(options, 20);
  const std::atomic<bool> stopped{false};
  BudgetedSamples samples = make_samples(options, worker_id(0), 20, budget, stopped);
  const Draw first = samples.next();
  const std::vector<std::uint32_t> rows(first.rows.begin(), first.rows.end());
  samples.give_again();
  EXPECT_EQ(samples.samples(), 0u);
  EXPECT_EQ(samples.prepare(), Draw::Kind::batch);
  const Draw again = samples.next();
  EXPECT_EQ(std::vector<std::uint32_t>(again.rows.begin(), again.rows.end()), rows);
  EXPECT_EQ(again.number, first.number);
  EXPECT_EQ(samples.samples(), 8u);
  EXPECT_EQ(samples.next().kind, Draw::Kind::batch) << "the second of two";
  EXPECT_EQ(samples.next().kind, Draw::Kind::no_more);
}

}  // namespace
}  // namespace dasgd
