#include "dasgd/transport/gradient_pool.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace dasgd {
namespace {

TEST(GradientPool, HandsOutUpToItsLimit) {
  const auto pool = GradientPool::create(2);
  const auto first = pool->take();
  auto second = pool->take();
  EXPECT_TRUE(first && second);
  EXPECT_NE(first, second);
  EXPECT_EQ(pool->take(), nullptr);
  second.reset();
  EXPECT_NE(pool->take(), nullptr);
  EXPECT_EQ(pool->most_allocated(), 2u);
}

TEST(GradientPool, ABufferComesBackWhenItsLastHolderLetsGoAndKeepsItsMemory) {
  const auto pool = GradientPool::create(1);
  auto gradient = pool->take();
  gradient->update.resize<float>(1000);
  const auto* numbers = gradient->update.bytes().data();
  GradientPtr shared = gradient;
  gradient.reset();
  EXPECT_EQ(pool->take(), nullptr) << "somebody still has it";
  std::jthread([holder = shared]() mutable { holder.reset(); }).join();
  EXPECT_EQ(pool->take(), nullptr);
  shared.reset();
  const auto again = pool->take();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->update.bytes().data(), numbers);
}

TEST(GradientPool, WhatIsTakenBeyondTheLimitGoesWhenItComesBack) {
  const auto pool = GradientPool::create(1);
  auto kept = pool->take();
  auto beyond = pool->take_beyond();
  ASSERT_NE(beyond, nullptr);
  EXPECT_EQ(pool->most_allocated(), 2u);
  beyond.reset();
  EXPECT_EQ(pool->take(), nullptr) << "the one of the limit is still out";
  kept.reset();
  kept = pool->take();
  EXPECT_NE(kept, nullptr);
  EXPECT_EQ(pool->take(), nullptr);
  EXPECT_EQ(pool->most_allocated(), 2u);
}

TEST(GradientPool, NumbersLieInTheGivenPoolAsLongAsTheyFit) {
  std::vector<std::byte> memory(64);
  const auto pool = GradientPool::create(1, [&] { return std::span(memory); });
  const auto gradient = pool->take();
  const auto beyond = pool->take_beyond();
  for (const auto& g : {gradient, beyond}) g->update.resize<float>(16);
  EXPECT_EQ(gradient->update.bytes().data(), memory.data());
  EXPECT_NE(beyond->update.bytes().data(), memory.data()) << "that place is taken";
  gradient->update.resize<float>(17);
  EXPECT_NE(gradient->update.bytes().data(), memory.data());
  EXPECT_EQ(gradient->update.bytes().size(), 68u);
}

TEST(GradientPool, AGradientThatHasAPlaceIsKeptAndNotTheOneBeyond) {
  std::vector<std::byte> memory(64);
  const auto pool = GradientPool::create(1, [&] { return std::span(memory); });
  auto placed = pool->take();
  auto beyond = pool->take_beyond();
  placed.reset();
  beyond.reset();
  placed = pool->take();
  ASSERT_NE(placed, nullptr);
  placed->update.resize<float>(16);
  EXPECT_EQ(placed->update.bytes().data(), memory.data());
  EXPECT_EQ(pool->take(), nullptr);
}

TEST(GradientPool, GradientsMayOutliveWhoeverMadeThePool) {
  auto pool = GradientPool::create(4);
  const auto gradient = pool->take();
  pool.reset();
  gradient->update.resize<double>(3);
  EXPECT_EQ(gradient->update.bytes().size(), 24u);
}

TEST(GradientPool, ManyThreadsShareIt) {
  const auto pool = GradientPool::create(3);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int k = 0; k < 1000; ++k)
          if (const auto gradient = pool->take()) gradient->samples = static_cast<std::uint32_t>(k);
      });
  }
  EXPECT_LE(pool->most_allocated(), 3u);
  EXPECT_NE(pool->take(), nullptr) << "all came back";
}

}  // namespace
}  // namespace dasgd
