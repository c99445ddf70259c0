// Models are compared while a run goes on, although members hold different names.
#include "dasgd/elastic/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/elastic/world/sim_member.hpp"
#include "elastic/peer.hpp"
#include "elastic/scenario.hpp"

namespace dasgd::elastic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

WorldOptions compared_world() {
  WorldOptions options = quick_world(5);
  options.compute = 20'000'000;
  options.latency = 30'000'000;  // there is always something under way
  options.protocol.compare_every = a_second;
  return options;
}

TEST(Comparison, FindsModelsOfDifferentNamesEqual) {
  const Quadratic objective = Quadratic::random(7, 4);
  World<double> world(objective, compared_world());
  for (int i = 0; i < 3; ++i) world.add();
  world.run_for(20 * a_second);
  EXPECT_NE(world.protocol(0).audit().names, world.protocol(1).audit().names);
  EXPECT_EQ(world.protocol(0).audit().found_equal, 0u);  // the eldest, with whom others compare
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_GE(world.protocol(i).audit().found_equal, 15u);
    EXPECT_EQ(world.protocol(i).audit().difference, "");
  }
}

/// A member that holds five gradients of its own and has begun the run, with another.
struct Compared : ::testing::Test {
  Compared() {
    other.report(true, 1);
    for (std::uint32_t i = 0; i < 5; ++i) compute(one, i, 2);
  }
  /// "My model had this digest with the first so many of your gradients."
  void hear(std::uint32_t first, const Hash& digest) {
    ModelDigest said{{}, digest};
    said.names.insert_range({other.roster.number({1, 1}), 0, first});
    other.say(said, 3);
  }
  /// How many gradients the worker is to take off its model; nothing: it has nothing to do.
  std::optional<std::size_t> to_take_off() {
    const Task task = one.next_task(4);
    const auto* const digest = std::get_if<TakeDigest>(&task);
    return digest ? std::optional(digest->beyond.size()) : std::nullopt;
  }

  Said network;
  Protocol one{founder(), network};
  Peer other{one, LinkId{1}, {2, 2}, "", "other"};
};

TEST_F(Compared, ADigestIsTakenWithTheNamesOfTheOther) {
  hear(3, {5, 6});
  EXPECT_EQ(to_take_off(), 2u);
  one.digest_taken({5, 6}, 5);
  EXPECT_EQ(one.audit().found_equal, 1u);
  EXPECT_EQ(one.ending(), std::nullopt);
  EXPECT_EQ(to_take_off(), std::nullopt);
}

TEST_F(Compared, WhoDiffersIsNamedAndTheRunEnds) {
  hear(5, {5, 6});
  EXPECT_EQ(to_take_off(), 0u);
  one.digest_taken({7, 8}, 5);
  EXPECT_EQ(one.ending(), StopReason::failed);
  EXPECT_THAT(one.audit().difference,
              AllOf(HasSubstr("the same 5 gradients"),
                    HasSubstr("that of other " + Hash{5, 6}.text()), HasSubstr(Hash{7, 8}.text())));
  EXPECT_EQ(one.audit().found_equal, 0u);
}

TEST_F(Compared, WhatIsStillOnItsWayIsWaitedForAndKeptInTheLog) {
  hear(6, {5, 6});
  EXPECT_EQ(to_take_off(), std::nullopt);
  Report all{one.held(), true, {}, 5};  // it needs none of these any more
  other.roster.number({1, 1});
  other.say(all, a_second);
  one.tick(a_second);
  EXPECT_EQ(one.log_size(), 5u);
  compute(one, 5, a_second);
  compute(one, 6, a_second);
  EXPECT_EQ(to_take_off(), 1u);
}

TEST_F(Compared, WhatNeverComesIsNotWaitedForLong) {
  hear(6, {5, 6});
  one.tick(3 + founder().patience.gone + 1);
  compute(one, 5, 4);
  EXPECT_EQ(to_take_off(), std::nullopt);
}

TEST_F(Compared, ANewerDigestDoesNotReplaceOneThatWaits) {
  hear(6, {5, 6});
  hear(7, {7, 8});
  compute(one, 5, 4);
  EXPECT_EQ(to_take_off(), 0u);
  one.digest_taken({5, 6}, 5);
  EXPECT_EQ(one.audit().found_equal, 1u);
}

TEST_F(Compared, WhoseNamesNeverComeDoNotKeepTheLogForEver) {
  const Nanoseconds gone = founder().patience.gone;
  hear(6, {5, 6});
  one.tick(3 + gone + 1);
  ModelDigest said{{}, {5, 6}};
  said.names.insert_range({other.roster.number({1, 1}), 0, 6});
  other.say(said, 3 + gone + 2);
  Report all{one.held(), true, {}, 5};  // it needs none of these any more
  other.say(all, 3 + gone + 3);
  one.tick(3 + 2 * gone);
  EXPECT_EQ(one.log_size(), 0u);
}

TEST(Comparison, IsNotMadeWhereTheLogHasNotAllThatIsToBeTakenOff) {
  Roster roster;
  Membership members({.origin = {1, 1}}, roster, {});
  Holdings held(members);
  const auto own = std::make_shared<Gradient>();
  own->name = {Membership::self, 0};
  held.add_own(own, 1);
  ProtocolOptions options;
  Comparison comparison(options);
  comparison.hear(WorkerId{1}, {}, 1);
  held.log().drop(held.names(), 1);
  EXPECT_FALSE(comparison.begin(held));
  EXPECT_FALSE(comparison.is_waiting());
}

TEST(Comparison, TheEldestSendsItsDigestAheadOfItsReport) {
  Said network;
  ProtocolOptions options = founder();
  options.compare_every = 5 * a_second;
  Protocol one(options, network);
  one.tick(5 * a_second);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(one.next_task(5 * a_second))) << "to nobody";
  Peer other(one, LinkId{1}, {2, 2});
  other.report(true, 6 * a_second);
  compute(one, 0, 6 * a_second);
  one.tick(6 * a_second);
  ASSERT_TRUE(std::holds_alternative<TakeDigest>(one.next_task(6 * a_second)));
  one.digest_taken({5, 6}, 6 * a_second);
  Peer late(one, LinkId{2}, {3, 3});
  late.report(true, 6 * a_second);
  const std::size_t before = network.said[other.link].size();
  one.tick(7 * a_second);
  one.tick(8 * a_second);
  ASSERT_EQ(network.count<ModelDigest>(other.link), 1u);
  EXPECT_EQ(network.count<ModelDigest>(late.link), 0u);  // it came when the digest was old
  const auto* const sent = std::get_if<ModelDigest>(&network.said[other.link].at(before));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->digest, (Hash{5, 6}));
  EXPECT_EQ(sent->names.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(one.next_task(10 * a_second)));
  one.tick(11 * a_second);
  EXPECT_TRUE(std::holds_alternative<TakeDigest>(one.next_task(11 * a_second)));
}

}  // namespace
}  // namespace dasgd::elastic::test
