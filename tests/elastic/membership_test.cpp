// Who is here, as far as one member knows: what it believes, and what silence means.
#include "dasgd/elastic/membership/membership.hpp"

#include <gtest/gtest.h>

#include "dasgd/elastic/membership/facts.hpp"

namespace dasgd::elastic::who_is_here {
namespace {

using enum MemberState;
using Numbers = std::vector<WorkerId>;
constexpr Nanoseconds second = 1'000'000'000;
constexpr WorkerId b{1}, c{2}, d{3};

/// This member has origin 5, 0.
struct Knowledge {
  explicit Knowledge(std::uint64_t joined_at = 0)
      : members({.origin = {5, 0}, .name = "me", .joined = true, .joined_at = joined_at}, roster,
                patience) {}
  bool hears(std::uint64_t origin, std::uint64_t version, Nanoseconds now) {
    return members.hear({.origin = {origin, 0}, .version = version, .joined = true}, now);
  }
  /// The next number.
  void knows(MemberState state, std::uint64_t joined_at, std::uint64_t t = 0,
             std::uint64_t origin = 0) {
    const Origin its{origin > 0 ? origin : 10 + roster.size(), 0};
    const WorkerId number = roster.number(its);
    members.grow();
    members[number].record = {.origin = its,
                              .version = 1,
                              .name = "m",
                              .address = "m:1",
                              .joined = true,
                              .joined_at = joined_at,
                              .t = t};
    members.set_state(number, state, second);
  }

  const Patience patience;
  Roster roster;
  Membership members;
};

TEST(Membership, BelievesOnlyWhatIsNewer) {
  Knowledge here;
  EXPECT_TRUE(here.hears(7, 5, second));
  EXPECT_FALSE(here.hears(7, 5, second));
  EXPECT_FALSE(here.hears(7, 4, second));
  EXPECT_EQ(here.members[b].record.version, 5u);
  EXPECT_TRUE(here.hears(7, 6, second));
  EXPECT_EQ(here.members[b].record.version, 6u);
}

TEST(Membership, WhatOthersMakeUpOfThisMemberRaisesItsVersionOnly) {
  Knowledge here;
  EXPECT_FALSE(here.hears(5, 9, second));
  EXPECT_EQ(here.members.me().version, 9u);
  EXPECT_FALSE(here.hears(5, 3, second));
  EXPECT_EQ(here.members.me().version, 9u);
  EXPECT_EQ(here.members.me().name, "me");
  EXPECT_EQ(here.members.size(), 1u);
}

TEST(Membership, TheSecondReportByOthersIsASignOfLife) {
  Knowledge here;
  here.hears(7, 1, 4 * second);
  EXPECT_EQ(here.members[b].state, unknown);
  EXPECT_EQ(here.members[b].since, 4 * second);
  EXPECT_EQ(here.members[b].apart, 4 * second);
  EXPECT_EQ(here.members[b].heard, 0);
  here.hears(7, 2, 5 * second);
  EXPECT_TRUE(here.members.is_here(b));
  EXPECT_EQ(here.members[b].heard, 5 * second);
  here.members.set_state(b, silent, 20 * second);
  here.hears(7, 3, 21 * second);
  EXPECT_EQ(here.members[b].state, silent);
  EXPECT_EQ(here.members[b].since, 20 * second);
  EXPECT_EQ(here.members[b].heard, 5 * second);
  here.hears(7, 4, 22 * second);
  EXPECT_TRUE(here.members.is_here(b));
  here.hears(7, 5, 23 * second);  // of one who is here each counts
  EXPECT_EQ(here.members[b].heard, 23 * second);
}

TEST(Membership, ReportsOfTheDeadAreOldForAWhile) {
  Knowledge here;
  here.members.hear({.origin = {7, 0}, .version = 1, .joined = true}, second);
  here.members.set_state(b, dead, 10 * second);
  const Nanoseconds later = 10 * second + here.patience.suspect;
  here.hears(7, 2, later - 2);
  here.hears(7, 3, later - 1);
  EXPECT_EQ(here.members[b].state, dead);
  here.hears(7, 4, later);
  EXPECT_EQ(here.members[b].state, dead);  // the first that counts
  here.hears(7, 5, later);
  EXPECT_TRUE(here.members.is_here(b));
}

TEST(Membership, WhoTakesItsEndBackIsUnknownUntilMoreIsHeard) {
  for (const bool leaves : {true, false}) {
    Knowledge here;
    here.hears(7, 1, second);
    here.hears(7, 2, second);
    here.members.hear(
        {.origin = {7, 0}, .version = 3, .joined = true, .left = leaves, .ended = !leaves},
        2 * second);
    EXPECT_EQ(here.members[b].state, leaves ? left : ended);
    here.members.heard_from(b, 3 * second);
    EXPECT_EQ(here.members[b].state, leaves ? left : ended);
    here.hears(7, 4, 4 * second);
    EXPECT_EQ(here.members[b].state, unknown);
    here.hears(7, 5, 5 * second);
    EXPECT_TRUE(here.members.is_here(b));
  }
}

TEST(Membership, SilenceIsMeasuredAgainstTheLongestGapOfLate) {
  Knowledge here;
  here.knows(MemberState::here, 0);
  const Nanoseconds gone = here.patience.gone;
  const auto silent_after = [&](Nanoseconds limit, Nanoseconds now) {
    EXPECT_EQ(here.members.find_silent(now + limit), Numbers());
    EXPECT_EQ(here.members.find_silent(now + limit + 1), Numbers{b});
    EXPECT_EQ(here.members[b].state, silent);
    EXPECT_EQ(here.members[b].since, now + limit + 1);
    EXPECT_EQ(here.members.find_silent(now + 2 * limit), Numbers());  // once
    here.members.set_state(b, MemberState::here, now);
  };
  here.members.heard_from(b, 100 * second);
  EXPECT_EQ(here.members[b].longest_gap, 0);  // the first word is behind no gap
  silent_after(gone, 100 * second);
  here.members.heard_from(b, 102 * second);
  silent_after(gone, 102 * second);
  here.members.heard_from(b, 106 * second);
  silent_after(16 * second, 106 * second);
  here.members[b].link_broken = true;
  here.members.heard_from(b, 107 * second);
  EXPECT_FALSE(here.members[b].link_broken);
  EXPECT_EQ(here.members[b].longest_gap, 4 * second - 4 * second / 64);
  here.members.heard_from(b, 207 * second);
  silent_after(4 * gone, 207 * second);
}

TEST(Membership, NobodysSilenceCountsWhileThisOneCouldNotListen) {
  Knowledge here;
  here.knows(MemberState::here, 0);
  here.knows(unknown, 0);
  here.members.heard_from(b, 100 * second);
  here.members.ignore_gap(7 * second);
  EXPECT_EQ(here.members[b].heard, 107 * second);
  EXPECT_EQ(here.members[c].heard, 0);
}

TEST(Membership, CountsWhoIsHere) {
  Knowledge here(4);
  here.knows(MemberState::here, 2);
  here.knows(silent, 1);
  here.knows(ended, 3);
  here.knows(left, 0);
  EXPECT_EQ(here.members.here(), (Numbers{WorkerId{0}, b}));
  EXPECT_EQ(here.members.count_here(), 2u);
  EXPECT_EQ(here.members.by_age(), (Numbers{b, d, WorkerId{0}}));
  EXPECT_TRUE(here.members.has_unseen_members());
  EXPECT_TRUE(here.members.has_member_without_address());
  here.members.me().address = "me:1";
  EXPECT_FALSE(here.members.has_member_without_address());
  here.members[c].record.address.clear();  // not here
  EXPECT_FALSE(here.members.has_member_without_address());
  const auto may_be_alive = [&](MemberState state, bool joined) {
    here.members[c].state = state;
    here.members[c].record.joined = joined;
    return here.members.may_be_alive(c);
  };
  EXPECT_TRUE(may_be_alive(MemberState::here, false) && may_be_alive(silent, false));
  EXPECT_TRUE(may_be_alive(unknown, true));
  EXPECT_FALSE(may_be_alive(unknown, false) || may_be_alive(dead, true));
  EXPECT_FALSE(may_be_alive(left, true) || may_be_alive(ended, true));
}

TEST(Membership, ForgetsWhatTheDeadHeld) {
  Knowledge here;
  here.knows(MemberState::here, 0);
  here.members[b].reported.insert({b, 0});
  here.members.set_state(b, silent, 2 * second);
  EXPECT_EQ(here.members[b].reported.size(), 1u);
  here.members.set_state(b, dead, 2 * second);
  EXPECT_EQ(here.members[b].reported.size(), 0u);
}

TEST(Membership, OnlyTheOlderAreUnseenWhereOthersReportThem) {
  Knowledge here(4);
  here.knows(unknown, 5);
  EXPECT_FALSE(here.members.has_unseen_members());
  here.members[b].record.joined_at = 3;
  EXPECT_TRUE(here.members.has_unseen_members());
  here.members[b].record.joined = false;
  EXPECT_FALSE(here.members.has_unseen_members());
  here.members[b].record.joined = true;
  here.members.me().joined = false;
  EXPECT_FALSE(here.members.has_unseen_members());
}

TEST(Membership, TheFirstToComeIsTheOldest) {
  const auto ages = [](MemberState state, std::uint64_t joined_at, std::uint64_t origin = 9) {
    Knowledge here(4);
    here.knows(state, joined_at, 0, origin);
    return std::pair(here.members.is_oldest_here(), here.members.is_first());
  };
  EXPECT_EQ(ages(MemberState::here, 3), std::pair(false, false));
  EXPECT_EQ(ages(MemberState::here, 5), std::pair(true, true));
  EXPECT_EQ(ages(MemberState::here, 4), std::pair(true, true));  // the origin decides
  EXPECT_EQ(ages(MemberState::here, 4, 1), std::pair(false, false));
  EXPECT_EQ(ages(ended, 3), std::pair(true, false));
  EXPECT_EQ(ages(silent, 3), std::pair(true, true));
  Knowledge here(4);
  here.knows(MemberState::here, 0);
  here.members[b].record.joined = false;
  EXPECT_TRUE(here.members.is_oldest_here());
  EXPECT_TRUE(here.members.is_first());
}

TEST(Membership, TheSmallerSideOfACutIsCutOff) {
  const Nanoseconds now = 2 * second;
  Knowledge here(1);
  EXPECT_FALSE(here.members.is_cut_off(now));
  here.knows(MemberState::here, 2, 50);
  EXPECT_FALSE(here.members.is_cut_off(now));
  here.knows(silent, 0, 100);
  EXPECT_FALSE(here.members.is_cut_off(now));  // two of three
  here.knows(silent, 3, 90);
  EXPECT_TRUE(here.members.is_cut_off(now));  // two of four, without the eldest
  here.members[c].record.joined_at = 2;
  EXPECT_FALSE(here.members.is_cut_off(now));  // this one is the eldest
  here.members.set_state(b, dead, now);
  EXPECT_TRUE(here.members.is_cut_off(now));
  EXPECT_TRUE(here.members.is_cut_off(second + here.patience.alone));
  EXPECT_FALSE(here.members.is_cut_off(second + here.patience.alone + 1));
}

TEST(Membership, WhoJoinedAfterTheCutDoesNotMakeASideLarge) {
  Knowledge here(1);
  here.knows(silent, 0, 100);
  here.knows(silent, 2, 90);
  here.knows(MemberState::here, 100);
  here.knows(MemberState::here, 100);
  EXPECT_FALSE(here.members.is_cut_off(second));
  for (const WorkerId late : {d, WorkerId{4}}) here.members[late].record.joined_at = 101;
  EXPECT_TRUE(here.members.is_cut_off(second));
}

TEST(Facts, TheFirstLineThatDiffersIsNamed) {
  EXPECT_EQ(difference("", ""), "");
  EXPECT_EQ(difference("a: 1\nb: 2\n", "a: 1\nb: 2\n"), "");
  EXPECT_EQ(difference("a: 1\nb: 2\n", "a: 1\nb: 2"), "");
  EXPECT_EQ(difference("a: 1\nb: 2\nc: 3\n", "a: 1\nb: 7\nc: 8\n"),
            "the run has b: 2; you have b: 7");
  EXPECT_EQ(difference("a: 1\nb: 2\n", "a: 1\n"), "the run has b: 2; you have nothing");
  EXPECT_EQ(difference("a: 1\n", "a: 1\nb: 2"), "the run has nothing; you have b: 2");
  EXPECT_EQ(difference("a: 1\n\nb: 2\n", "a: 1\nb: 2\n"), "the run has ; you have b: 2");
}

TEST(Origin, IsItsText) {
  const Origin origin{0x1, 0xfedcba9876543210};
  const std::string text = "0000000000000001fedcba9876543210";
  EXPECT_EQ(origin.text(), text);
  EXPECT_EQ(Origin::parse(text), origin);
  for (const std::size_t place : {0, 15, 16, 31}) {
    std::string other = text;
    other[place] = 'g';
    EXPECT_FALSE(Origin::parse(other)) << place;
  }
  EXPECT_FALSE(Origin::parse(text + "0") || Origin::parse(text.substr(1)) || Origin::parse(""));
}

TEST(Origin, HasBitsInAllPlaces) {
  Origin ones;
  for (int k = 0; k < 200; ++k) {
    const Origin drawn = Origin::random();
    ones = {ones.high | drawn.high, ones.low | drawn.low};
  }
  EXPECT_EQ(ones, (Origin{~std::uint64_t{0}, ~std::uint64_t{0}}));
}

}  // namespace
}  // namespace dasgd::elastic::who_is_here
