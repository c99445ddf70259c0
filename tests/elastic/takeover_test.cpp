// Giving a model and going over to one: the test is the members who ask and answer.
#include "dasgd/elastic/takeover.hpp"

#include <gtest/gtest.h>

namespace dasgd::elastic::test {
namespace {

/// Three members, of whom this one has joined.
struct TakingOver : ::testing::Test {
  TakingOver() {
    members.grow();
    for (const WorkerId member : {first, second}) members.heard_from(member, 1);
    members.me().joined = true;
    members.me().joined_at = 1;
    for (const WorkerId member : {first, second}) members[member].record.joined = true;
  }
  static GradientSet range(WorkerId origin, std::uint32_t last) {
    GradientSet set;
    set.insert_range({origin, 0, last});
    return set;
  }
  void hold(WorkerId origin, std::uint32_t count) {
    for (std::uint32_t k = 0; k < count; ++k) {
      const auto gradient = std::make_shared<Gradient>();
      gradient->name = {origin, k};
      holdings.add(GradientPtr(gradient), 1, true);
    }
  }
  void ask_for(const GradientSet& their, Nanoseconds now, bool needed = true) {
    theirs = their;
    const Takeover::Giver giver{LinkId{1}, first, &theirs, needed};
    asked = takeover.ask({&giver, 1}, holdings.names(), false, now);
  }

  ProtocolOptions options{.limits = {.in_flight = 1}};
  Roster roster;
  Membership members{{.origin = {9, 9}}, roster, {}};
  const WorkerId first = roster.number({1, 1}), second = roster.number({2, 2});
  Holdings holdings{members};
  Copies copies;
  Takeover takeover{options, members};
  GradientSet theirs;
  std::optional<LinkId> asked;
};

TEST_F(TakingOver, AsksWhoHasMostOfWhatIsLacking) {
  const GradientSet few = range(first, 2), many = range(second, 5);
  const std::vector<Takeover::Giver> givers{{LinkId{1}, first, &few, true},
                                            {LinkId{2}, second, &many, true}};
  EXPECT_EQ(takeover.ask(givers, holdings.names(), false, 1), LinkId{2});
  EXPECT_EQ(takeover.at_least(), many);
  EXPECT_TRUE(takeover.is_under_way());
}

TEST_F(TakingOver, AsksNobodyForWhatComesOneByOneOrIsHeld) {
  ask_for(range(first, 2), 1, false);
  EXPECT_FALSE(asked);
  ask_for({}, 1);
  EXPECT_FALSE(asked);
}

TEST_F(TakingOver, ANewcomerAsksWhoeverIsThere) {
  members.me().joined = false;
  ask_for({}, 1, false);
  EXPECT_TRUE(asked);
}

TEST_F(TakingOver, AsksAgainWhereNoAnswerBeginsToCome) {
  const Takeover::Giver other{LinkId{2}, second, &theirs, true};
  ask_for(range(first, 2), 1);
  ASSERT_TRUE(asked);
  const Nanoseconds late = 1 + options.await_model;
  EXPECT_FALSE(takeover.ask({&other, 1}, {}, false, late - 1));
  EXPECT_FALSE(takeover.ask({&other, 1}, {}, true, late));
  EXPECT_EQ(takeover.ask({&other, 1}, {}, false, late), LinkId{2});
  takeover.lost(LinkId{2});
  ask_for(range(first, 2), late);  // it was asked in vain
  EXPECT_FALSE(asked);
  ask_for(range(first, 2), late + options.await_model);
  EXPECT_TRUE(asked);
}

TEST_F(TakingOver, AdoptsAModelThatHasAllThatIsHeld) {
  hold(first, 2);
  ask_for(range(first, 4), 1);
  takeover.offer({theirs, 4, nullptr}, first, 2);
  ask_for(range(first, 9), 3);
  EXPECT_FALSE(asked);
  const auto adoption = takeover.decide(holdings, copies, 3);
  ASSERT_TRUE(adoption);
  EXPECT_EQ(adoption->names, range(first, 4));
  EXPECT_FALSE(takeover.is_under_way());
  EXPECT_FALSE(takeover.is_to_correct());
}

TEST_F(TakingOver, TheEldestOfTwoLongBranchesCorrectsTheUnion) {
  members.me().joined_at = 0;
  for (const WorkerId member : {first, second}) members[member].record.joined_at = 5;
  hold(first, 20);
  takeover.offer({range(second, 20), 20, nullptr}, second, 2);
  const auto adoption = takeover.decide(holdings, copies, 3);
  ASSERT_TRUE(adoption);
  ASSERT_TRUE(adoption->mean);
  EXPECT_EQ(adoption->mean->own, 0.5);
  EXPECT_TRUE(takeover.is_to_correct());
  takeover.corrected();
  EXPECT_FALSE(takeover.is_to_correct());
}

TEST_F(TakingOver, OthersLeaveThatToTheEldestForAWhile) {
  hold(first, 20);
  const Model branch{range(second, 20), 20, nullptr};
  takeover.offer(branch, second, 2);
  EXPECT_FALSE(takeover.decide(holdings, copies, 2));
  EXPECT_TRUE(takeover.is_stuck());
  const GradientSet more = range(second, 20);
  const Takeover::Giver giver{LinkId{2}, second, &more, true};
  EXPECT_FALSE(takeover.ask({&giver, 1}, holdings.names(), false, 3));
  const Nanoseconds later = 3 + options.yield_after / 2;
  ASSERT_TRUE(takeover.ask({&giver, 1}, holdings.names(), false, later));
  takeover.offer(branch, second, later);
  EXPECT_TRUE(takeover.decide(holdings, copies, later));
  EXPECT_FALSE(takeover.is_stuck());
}

TEST_F(TakingOver, TheShorterBranchYieldsWhereThatIsTheRule) {
  options.merge = Merge::yield;
  hold(first, 20);
  takeover.offer({range(second, 21), 21, nullptr}, second, 2);
  const auto adoption = takeover.decide(holdings, copies, 3);
  ASSERT_TRUE(adoption);
  EXPECT_EQ(adoption->abandoned, range(first, 20));
  EXPECT_EQ(adoption->names, range(second, 21));
}

TEST_F(TakingOver, ASnapshotServesWhoCanGetTheRestOneByOne) {
  Snapshots snapshots;
  hold(first, 2);
  EXPECT_EQ(snapshots.fit_for({}, holdings), nullptr);
  EXPECT_TRUE(snapshots.is_wanted());
  snapshots.made({range(first, 2), 2, nullptr}, 5);
  EXPECT_TRUE(snapshots.take_news());
  EXPECT_FALSE(snapshots.take_news());
  EXPECT_FALSE(snapshots.is_wanted());
  hold(second, 3);
  EXPECT_NE(snapshots.fit_for({}, holdings), nullptr);
  holdings.log().drop(range(second, 3), 5);
  EXPECT_NE(snapshots.fit_for(range(second, 3), holdings), nullptr);
  EXPECT_EQ(snapshots.fit_for({}, holdings), nullptr);
  EXPECT_TRUE(snapshots.is_wanted());
}

TEST_F(TakingOver, ASnapshotIsKeptForAMoment) {
  Snapshots snapshots;
  snapshots.made({}, 5);
  EXPECT_FALSE(snapshots.has_one());  // nobody wanted it
  snapshots.fit_for({}, holdings);
  snapshots.made({}, 5);
  snapshots.expire(5 + options.keep_snapshot);
  EXPECT_TRUE(snapshots.has_one());
  snapshots.expire(6 + options.keep_snapshot);
  EXPECT_FALSE(snapshots.has_one());
}

}  // namespace
}  // namespace dasgd::elastic::test
