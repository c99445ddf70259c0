#include "dasgd/core/missing_updates.hpp"

#include <gtest/gtest.h>

namespace dasgd {
namespace {

constexpr WorkerId me{0}, peer{1};

/// A gradient of `origin` that knows so many updates of worker 0.
GradientFacts knowing(std::uint32_t own_updates, std::uint32_t sequence, WorkerId origin = peer) {
  GradientFacts g;
  g.name = {origin, sequence};
  g.compute_set.insert_range({me, 0, own_updates});
  return g;
}

/// One gradient of every other worker per own update, each with this lag, for so many rounds.
std::uint64_t rounds(MissingUpdates& missing, std::size_t others, std::uint32_t lag,
                     std::uint32_t count, std::uint32_t from = 1) {
  for (std::uint32_t own = from; own < from + count; ++own)
    for (std::size_t j = 1; j <= others; ++j)
      missing.applied(knowing(own - std::min(own, lag), own, worker_id(j)), own);
  return from + count - 1;
}

TEST(MissingUpdates, InLockstepWithoutDelayNothingIsToBeStoodInFor) {
  MissingUpdates missing(me, 4);
  const auto own = rounds(missing, 3, 1, 30);
  EXPECT_EQ(missing.weight(0, 1, own), 0);
  EXPECT_EQ(missing.oldest(own), 0);
  EXPECT_DOUBLE_EQ(missing.expected(own), 1.5);  // of three that began with it, half before it
}

TEST(MissingUpdates, AStepOfDelayIsOneUpdateOfEveryOther) {
  MissingUpdates missing(me, 4);
  const auto own = rounds(missing, 3, 3, 40);
  EXPECT_DOUBLE_EQ(missing.weight(0, 1, own), 3);
  EXPECT_EQ(missing.weight(1, 1, own), 0);
  EXPECT_DOUBLE_EQ(missing.delayed(own), 3);
  EXPECT_DOUBLE_EQ(missing.expected(own), 4.5);
}

TEST(MissingUpdates, TheOldestOwnUpdateCountsByAFraction) {
  MissingUpdates missing(me, 2);
  const auto own = rounds(missing, 1, 4, 40);  // W = 1.5
  EXPECT_DOUBLE_EQ(missing.weight(0, 1, own), 1);
  EXPECT_DOUBLE_EQ(missing.weight(1, 1, own), 0.5);
  EXPECT_DOUBLE_EQ(missing.weight(0, 3, own), 0.5);  // a block of three
}

TEST(MissingUpdates, ASlowWorkerHasASmallRateAndALongWindow) {
  MissingUpdates missing(me, 2);
  std::uint32_t own = 0;
  for (std::uint32_t k = 0; k < 40; ++k) {
    own += 10;
    missing.applied(knowing(own - 11 < own ? own - 11 : 0, k), own);
  }
  EXPECT_NEAR(missing.oldest(own), 5, 1e-9);
  EXPECT_NEAR(missing.weight(0, 1, own), 0.1, 0.01);
  EXPECT_NEAR(missing.expected(own), 1, 0.05);  // the one that it computes
}

TEST(MissingUpdates, ASlowWorkerItselfMissesOneOfEveryFastOne) {
  MissingUpdates missing(me, 2);
  std::uint32_t sequence = 0;
  std::uint64_t own = 1;
  for (; own < 20; ++own)
    for (int k = 0; k < 100; ++k)
      missing.applied(knowing(static_cast<std::uint32_t>(own) - (k == 0 ? 2 : 1), sequence++), own);
  --own;
  EXPECT_NEAR(missing.expected(own), 1, 0.3);
  EXPECT_LT(missing.delayed(own), 1);
}

TEST(MissingUpdates, BeforeAnythingArrivesTheOthersHaveMadeAsMany) {
  const MissingUpdates missing(me, 3);
  EXPECT_EQ(missing.delayed(0), 0);
  EXPECT_DOUBLE_EQ(missing.delayed(7), 14);
  EXPECT_DOUBLE_EQ(missing.weight(0, 1, 7), 2);
  EXPECT_EQ(missing.delayed(1000), 0);  // they never came
}

TEST(MissingUpdates, GradientsThatKnowNoOwnUpdateShowHowManyAreInFlight) {
  MissingUpdates missing(me, 2);  // a delay of four steps, from the start
  for (std::uint32_t own = 5; own < 9; ++own) {
    missing.applied(knowing(0, own - 5), own);
    EXPECT_DOUBLE_EQ(missing.delayed(own), 4) << own;
  }
}

TEST(MissingUpdates, WhoeverFallsSilentIsGoneAfterTenOfItsIntervals) {
  MissingUpdates missing(me, 2);
  auto own = rounds(missing, 1, 5, 40);
  EXPECT_DOUBLE_EQ(missing.delayed(own), 2);
  EXPECT_LT(missing.delayed(own + 9), 2);
  EXPECT_EQ(missing.delayed(own + 11), 0);
  EXPECT_EQ(missing.expected(own + 11), 0);
  EXPECT_EQ(missing.oldest(own + 11), 0);
  own += 100;  // and comes back
  for (std::uint32_t k = 0; k < 30; ++k, ++own)
    missing.applied(knowing(static_cast<std::uint32_t>(own) - 5, 100 + k), own);
  EXPECT_NEAR(missing.delayed(own), 2, 0.8);
}

TEST(MissingUpdates, AHundredTimesSlowerIsNotSilent) {
  MissingUpdates missing(me, 2);
  std::uint32_t own = 0;
  for (std::uint32_t k = 0; k < 30; ++k) {
    own += 100;
    missing.applied(knowing(own - std::min(own, 101u), k), own);
    if (k < 3) continue;
    EXPECT_NEAR(missing.oldest(own), 50, 1e-9) << k;
    EXPECT_NEAR(missing.weight(0, 1, own), 0.01, 0.003) << k;
  }
}

// In time slices: the gradient that the other was computing meanwhile is as old as its silence.
TEST(MissingUpdates, OneOldGradientAfterASilenceIsNoLongWindow) {
  MissingUpdates missing(me, 2);
  auto own = rounds(missing, 1, 1, 40);
  for (std::uint32_t slice = 0; slice < 5; ++slice) {
    own += 200;
    missing.applied(knowing(static_cast<std::uint32_t>(own) - 200, 1000 * (slice + 1)), own);
    EXPECT_LE(missing.delayed(own), 1) << slice;
    for (std::uint32_t k = 1; k < 20; ++k) {
      missing.applied(knowing(static_cast<std::uint32_t>(own) - 1, 1000 * (slice + 1) + k), ++own);
      EXPECT_LE(missing.delayed(own), 1) << slice << ' ' << k;
    }
  }
}

TEST(MissingUpdates, NobodyIsAwaitedWhoseNumberNobodyHasUsed) {
  MissingUpdates missing(me);  // members come and go
  missing.applied(knowing(1, 0, worker_id(5)), 2);
  missing.applied(knowing(2, 1, worker_id(5)), 3);
  EXPECT_LT(missing.delayed(3), 1.1);
}

TEST(MissingUpdates, WhereMembersComeAndGoNobodyIsAwaited) {
  MissingUpdates missing(me);
  EXPECT_EQ(missing.delayed(7), 0);
  const auto own = rounds(missing, 2, 3, 30, 8);
  EXPECT_DOUBLE_EQ(missing.delayed(own), 2);
}

TEST(MissingUpdates, NamesBehindAGapCountToo) {
  MissingUpdates missing(me, 2);
  GradientFacts g = knowing(3, 0);
  g.compute_set.insert_range({me, 5, 8});
  missing.applied(g, 10);
  EXPECT_EQ(missing.concurrent_pairs(), 4u);
}

TEST(MissingUpdates, ForgetsEverythingWhenTheReplicaIsReplaced) {
  MissingUpdates missing(me);
  const auto own = rounds(missing, 3, 5, 30);
  missing.forget();
  EXPECT_EQ(missing.delayed(own), 0);
}

}  // namespace
}  // namespace dasgd
