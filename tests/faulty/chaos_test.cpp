// When frames of a disturbed link leave and arrive, and which disturbance is refused.
#include "dasgd/transport/chaos.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

#include "dasgd/core/error.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd {
namespace {

constexpr WorkerId a{0}, b{1}, c{2};

TEST(Chaos, FramesWaitUntilAllPartitionsHaveHealed) {
  Chaos chaos;
  chaos.partitions = {{{b}, {a}, 150, 50}, {{a}, {b}, 100, 50}, {{a}, {c}, 10, 5}};
  const auto leaves = [&](WorkerId from, WorkerId to, Nanoseconds now) {
    DisturbedLink link(from, to, 0);
    Random random = link.next_frame(1);
    return link.leaves(chaos, random, now);
  };
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    EXPECT_EQ(leaves(from, to, 99), 99);
    EXPECT_EQ(leaves(from, to, 100), 200);
    EXPECT_EQ(leaves(from, to, 149), 200);
    EXPECT_EQ(leaves(from, to, 199), 200);
    EXPECT_EQ(leaves(from, to, 200), 200);
  }
  EXPECT_EQ(leaves(a, c, 12), 15);
  EXPECT_EQ(leaves(b, c, 12), 12);
  EXPECT_EQ(leaves(c, b, 120), 120);
}

TEST(Chaos, LostFramesAreSentAgain) {
  Chaos chaos;
  chaos.drop = 0.25;
  chaos.resend_after = 1000;
  DisturbedLink link(a, b, 0);
  constexpr int frames = 4000;
  double sum = 0;
  for (int k = 0; k < frames; ++k) {
    Random random = link.next_frame(1);
    const Nanoseconds leaves = link.leaves(chaos, random, 500);
    EXPECT_EQ(leaves % 1000, 500);
    EXPECT_GE(leaves, 500);
    sum += static_cast<double>(leaves - 500) / 1000;
  }
  EXPECT_NEAR(sum / frames, 1.0 / 3, 0.05);  // drawn from the seed
}

TEST(Chaos, EveryWaitCountsHoweverShort) {
  Chaos chaos;
  chaos.drop = 1 - 1e-6;
  chaos.resend_after = 1;
  DisturbedLink link(a, b, 0);
  Nanoseconds latest = 0;
  for (int k = 0; k < 20; ++k) {
    Random random = link.next_frame(1);
    latest = std::max(latest, link.leaves(chaos, random, 0));
  }
  EXPECT_GT(latest, 100'000);  // a million in the mean; drawn from the seed
}

// So that the other draws of a seed stay as they were.
TEST(Chaos, WhatIsNotAskedForDrawsNothing) {
  DisturbedLink link(a, b, 0), same(a, b, 0);
  Random random = link.next_frame(1), untouched = same.next_frame(1);
  EXPECT_EQ(link.leaves({}, random, 5), 5);
  EXPECT_EQ(link.arrives({}, random, 5, 1000).first, 5);
  EXPECT_EQ(random.uniform(), untouched.uniform());
}

TEST(Chaos, AWorkerIsPausedFromTheFirstToBeforeTheLastMoment) {
  Chaos chaos;
  chaos.pauses = {{b, 10, 20}, {b, 50, 1}};
  EXPECT_EQ(chaos.paused_until(b, 9), std::nullopt);
  EXPECT_EQ(chaos.paused_until(b, 10), 30);
  EXPECT_EQ(chaos.paused_until(b, 29), 30);
  EXPECT_EQ(chaos.paused_until(b, 30), std::nullopt);
  EXPECT_EQ(chaos.paused_until(b, 50), 51);
  EXPECT_EQ(chaos.paused_until(a, 10), std::nullopt);
}

TEST(Chaos, OfEveryKindIsNoticed) {
  Chaos paused;
  EXPECT_FALSE(paused.any() || paused.on_links());
  paused.pauses = {{b, 10, 20}};
  EXPECT_TRUE(paused.any() && !paused.on_links());
  for (double Chaos::*const share :
       {&Chaos::delay, &Chaos::reorder, &Chaos::duplicate, &Chaos::drop}) {
    Chaos chaos;
    chaos.*share = 0.1;
    EXPECT_TRUE(chaos.any() && chaos.on_links());
  }
  Chaos cut;
  cut.partitions = {{{a}, {b}, 0, 1}};
  EXPECT_TRUE(cut.any() && cut.on_links());
}

TEST(Chaos, ThatCannotBeIsRefused) {
  const Graph graph = build_graph("full", 2, 1);
  for (double Chaos::*const share :
       {&Chaos::delay, &Chaos::reorder, &Chaos::duplicate, &Chaos::drop}) {
    Chaos chaos;
    for (const double good : {0.0, 0.999}) {
      chaos.*share = good;
      EXPECT_NO_THROW(validate(chaos, graph));
    }
    for (const double bad : {1.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
      chaos.*share = bad;
      EXPECT_THROW(validate(chaos, graph), InputError);
    }
  }
  const auto pause = [&](WorkerId worker, Nanoseconds at, Nanoseconds length) {
    Chaos chaos;
    chaos.pauses = {{worker, at, length}};
    validate(chaos, graph);
  };
  const auto cut = [&](WorkerId one, WorkerId other, Nanoseconds at, Nanoseconds length) {
    Chaos chaos;
    chaos.partitions = {{{one}, {other}, at, length}};
    validate(chaos, graph);
  };
  constexpr Nanoseconds forever = std::numeric_limits<Nanoseconds>::max();
  EXPECT_NO_THROW(pause(b, 0, forever));
  EXPECT_THROW(pause(c, 0, 1), InputError);
  EXPECT_THROW(pause(b, 1, forever), InputError);
  EXPECT_NO_THROW(cut(a, b, 0, forever));
  EXPECT_THROW(cut(a, c, 0, 1), InputError);
  EXPECT_THROW(cut(c, a, 0, 1), InputError);
  EXPECT_THROW(cut(a, b, 1, forever), InputError);
}

TEST(Chaos, IsAFunctionOfSeedLinkAndFrame) {
  const auto drawn = [](std::uint64_t seed, std::uint32_t id, int frame) {
    DisturbedLink link(a, b, id);
    Random random = link.next_frame(seed);
    for (int k = 0; k < frame; ++k) random = link.next_frame(seed);
    EXPECT_EQ(link.frame(), static_cast<std::uint64_t>(frame));
    return random.uniform();
  };
  EXPECT_EQ(drawn(1, 2, 3), drawn(1, 2, 3));
  EXPECT_NE(drawn(1, 2, 3), drawn(2, 2, 3));
  EXPECT_NE(drawn(1, 2, 3), drawn(1, 1, 3));
  EXPECT_NE(drawn(1, 2, 3), drawn(1, 2, 2));
}

TEST(Chaos, LinksKeepTheirOrderUnlessFramesAreToOvertake) {
  DisturbedLink link(a, b, 0);
  const auto arrives = [&](const Chaos& chaos, Nanoseconds arrival) {
    Random random = link.next_frame(1);
    const auto arrivals = link.arrives(chaos, random, arrival, 10);
    EXPECT_FALSE(arrivals.copy);
    return arrivals.first;
  };
  EXPECT_EQ(arrives({}, 100'000), 100'000);
  EXPECT_EQ(arrives({}, 50'000), 100'000);
  Chaos reorder;
  reorder.reorder = 0.999'999;
  EXPECT_GE(arrives(reorder, 10), 10);
  EXPECT_LT(arrives(reorder, 10), 100'000);  // it does not wait for the others, ...
  EXPECT_GE(arrives(reorder, 500'000), 500'000);
  EXPECT_EQ(arrives({}, 120'000), 120'000);  // ... nor they for it
}

/// How late so many frames are, in the mean and at most; each has a link of its own.
struct Lateness {
  double mean = 0, most = 0;
  Lateness(const Chaos& chaos, Nanoseconds spread, bool of_copies = false) {
    constexpr int frames = 2000;
    for (int k = 0; k < frames; ++k) {
      DisturbedLink link(a, b, static_cast<std::uint32_t>(k));
      Random random = link.next_frame(1);
      const auto [first, copy] = link.arrives(chaos, random, 5000, spread);
      EXPECT_GE(first, 5000);
      const auto late =
          static_cast<double>(of_copies ? copy.value_or(first) - first : first - 5000);
      EXPECT_GE(late, 0);
      mean += late / frames;
      most = std::max(most, late);
    }
  }
};

TEST(Chaos, MovesFramesAsFarAsItSays) {
  Chaos delay, reorder, duplicate;
  delay.delay = reorder.reorder = duplicate.duplicate = 0.5;
  delay.delay_up_to = 1000;
  const Lateness delayed(delay, 70'000);
  EXPECT_NEAR(delayed.mean, 250, 25);
  EXPECT_LE(delayed.most, 1000);
  const Lateness overtaken(reorder, 4000);
  EXPECT_NEAR(overtaken.mean, 3000, 300);
  EXPECT_LE(overtaken.most, 12'000);
  const Lateness at_once(reorder, 0);
  EXPECT_NEAR(at_once.mean, 750, 75);
  EXPECT_LE(at_once.most, 3000);
  const Lateness copied(duplicate, 4000, true);
  EXPECT_NEAR(copied.mean, 1000, 100);
  EXPECT_LE(copied.most, 4000);
  EXPECT_EQ(Lateness(duplicate, 4000).most, 0);
}

}  // namespace
}  // namespace dasgd
