// What leaves over one link: the test is the other end and the wire below.
#include "dasgd/elastic/link_stream.hpp"

#include <gtest/gtest.h>

#include "dasgd/elastic/windows.hpp"
#include "dasgd/transport/pending.hpp"

namespace dasgd::elastic::test {
namespace {

struct Streamed : ::testing::Test {
  Streamed() { members.grow(); }

  void hold(WorkerId origin, std::uint32_t sequence, Nanoseconds now, bool at_once) {
    const auto gradient = std::make_shared<Gradient>();
    gradient->name = {origin, sequence};
    gradient->update.resize<float>(2);
    holdings.add(GradientPtr(gradient), now, at_once);
  }
  void hold_own(std::uint32_t from, std::uint32_t to) {
    for (; from < to; ++from) hold(Membership::self, from, 1, true);
  }
  static GradientSet own(std::uint32_t last) {
    GradientSet set;
    set.insert_range({Membership::self, 0, last});
    return set;
  }
  void hears(const GradientSet& held, std::uint64_t taken = 0, bool can_stream = true,
             Nanoseconds now = 1) {
    Report report{held, can_stream, {}, taken, linked};
    stream.hear(report, holdings.names(), now);
  }
  /// How many gradients are in each message that leaves.
  std::vector<std::size_t> pump(Nanoseconds now = 1) {
    std::vector<std::size_t> sizes;
    stream.pump(holdings.log(),
                {.most_under_way = most_under_way,
                 .folds = true,
                 .repair_after = 10,
                 .await_origin = 100,
                 .await_relay = 100,
                 .has_room = [&] { return has_room; },
                 .send = [&](const Parcel& parcel) { sizes.push_back(parcel.size()); }},
                now);
    return sizes;
  }

  Roster roster;
  Membership members{{.origin = {1, 1}}, roster, {}};
  const WorkerId other = roster.number({2, 2});
  Holdings holdings{members};
  LinkStream stream;
  std::vector<WorkerId> linked;
  std::size_t most_under_way = 4;
  bool has_room = true;
  static constexpr Nanoseconds patience = 50;
};

using Sizes = std::vector<std::size_t>;

TEST_F(Streamed, SendsWhatTheOtherEndLacksOnce) {
  hold_own(0, 3);
  hears(own(1));
  EXPECT_EQ(pump(), (Sizes{1, 1}));
  EXPECT_EQ(pump(), Sizes{});
}

TEST_F(Streamed, SendsBackNothingThatCameFromThere) {
  hears({});
  hold(other, 0, 1, true);
  stream.came(holdings.log().find({other, 0}));
  EXPECT_EQ(pump(), Sizes{});
}

TEST_F(Streamed, WaitsForAcknowledgements) {
  hears({});
  hold_own(0, 6);
  EXPECT_EQ(pump().size(), 4u);
  EXPECT_EQ(pump(), Sizes{});
  hears(own(1), 1);
  EXPECT_EQ(pump().size(), 1u);
}

TEST_F(Streamed, WhatHasWaitedForAFullLinkLeavesAsOne) {
  hears({});
  has_room = false;
  EXPECT_EQ(pump(), Sizes{});
  hold_own(0, 5);
  has_room = true;
  EXPECT_EQ(pump(), Sizes{5});
  EXPECT_EQ(pump(), Sizes{});
}

TEST_F(Streamed, OnATreeWhatHasWaitedLeavesAsOneWhoeverMadeIt) {
  hears({});
  stream.take_route({.in_tree = true});
  has_room = false;
  EXPECT_EQ(pump(), Sizes{});
  hold_own(0, 2);
  hold(other, 0, 1, true);
  hold(other, 1, 1, false);  // came another way
  has_room = true;
  EXPECT_EQ(pump(), Sizes{3});
}

TEST_F(Streamed, BesideATreeNothingLeavesAtOnce) {
  hears({});
  stream.take_route({.in_tree = true, .at_once = false});
  hold_own(0, 2);
  EXPECT_EQ(pump(1), Sizes{});
  EXPECT_EQ(pump(1000), Sizes{2});  // nobody has passed them on for so long
  EXPECT_EQ(pump(1000), Sizes{});
}

TEST_F(Streamed, OverANewLinkOfATreeOnlyWhatComesFromNowOn) {
  hears({});
  hold_own(0, 2);
  stream.take_route({.in_tree = true, .from = holdings.log().end()});
  EXPECT_EQ(pump(), Sizes{});
  hold_own(2, 3);
  EXPECT_EQ(pump(), Sizes{1});
}

TEST_F(Streamed, WhatATreeHasLostIsSentOnceBesideIt) {
  hears({});
  stream.take_route({.in_tree = true, .at_once = false});
  hold_own(0, 4);
  GradientSet held = own(1);
  held.insert({Membership::self, 2});
  hears(held, 0, true, 20);
  EXPECT_EQ(pump(29), Sizes{});
  EXPECT_EQ(pump(30), Sizes{1});  // the second: it was lost; the fourth may be on its way
  EXPECT_EQ(pump(31), Sizes{});
  EXPECT_EQ(pump(131), Sizes{1});  // the fourth: none has come for long
  EXPECT_EQ(pump(232), Sizes{1});  // the second again
}

// Its origin is dead: the other end may take off what it has, and nobody else sends the rest.
TEST_F(Streamed, OfASumAlsoTheOtherEndsPartIsSentWhereTheRestIsNobodysToSend) {
  stream.take_route({.in_tree = true});
  std::vector<GradientFacts> facts(2);
  facts[0].name = {other, 0};
  facts[1].name = {roster.number({3, 3}), 0};
  members.grow();
  holdings.add(BundlePtr(std::make_shared<Bundle>(std::move(facts), NumberFormat::of_float, 16)), 1,
               true);
  GradientSet held;
  held.insert({other, 0});
  hears(held);
  EXPECT_EQ(pump(50), Sizes{});
  EXPECT_EQ(pump(61), Sizes{2});
  EXPECT_EQ(pump(75), Sizes{});
  linked = {roster.number({3, 3})};  // it comes from there
  hears(held, 1, true, 400);
  EXPECT_EQ(pump(400), Sizes{});
}

// While more and more is lost, what was lost first is sent again nevertheless, and nothing that may
// still be on its way.
TEST_F(Streamed, WhatIsLostAgainIsSentAgainAlsoWhileMoreIsLost) {
  hears({});
  stream.take_route({.in_tree = true, .at_once = false});
  most_under_way = 1'000;
  GradientSet held = own(1);
  std::size_t sent = 0, holes = 0;
  for (std::uint32_t k = 1; k < 21; k += 2) {
    hold_own(k == 1 ? 0 : k, k + 2);
    held.insert({Membership::self, k + 1});  // and not k
    ++holes;
    const Nanoseconds now = 20 * k;
    hears(held, 0, true, now);
    for (const Nanoseconds later : {1, 12, 38})
      for (const std::size_t size : pump(now + later)) sent += size;
    if (now < 100) EXPECT_EQ(sent, holes);
  }
  EXPECT_GT(sent, holes);
  EXPECT_LE(sent, 2 * holes);
}

// A frame's header, where facts are, has 16 MiB at most: else the other end closes the link.
TEST_F(Streamed, AMessageBringsNoMoreFactsThanAHeaderHolds) {
  hears({});
  has_room = false;
  EXPECT_EQ(pump(), Sizes{});
  has_room = true;
  most_under_way = 100;
  for (std::uint32_t k = 0; k < 2'500; ++k) {
    const auto gradient = std::make_shared<Gradient>();
    gradient->name = {Membership::self, k};
    gradient->compute_set = GradientSet(4'000);  // of those who ever were members
    gradient->update.resize<float>(2);
    holdings.add(GradientPtr(gradient), 1, true);
  }
  std::size_t all = 0;
  for (const std::size_t size : pump()) {
    EXPECT_LE(size * 4 * 4'000, 16u << 20);
    all += size;
  }
  EXPECT_EQ(all, 2'500u);
}

TEST_F(Streamed, OthersGradientsAreSentWhereTheyDoNotComeByThemselves) {
  hears({});
  hold(other, 0, 5, false);
  EXPECT_EQ(pump(14), Sizes{});
  EXPECT_EQ(pump(15), Sizes{1});
}

TEST_F(Streamed, WhoHasALinkToTheOriginGetsThemFromThereForLonger) {
  linked = {other};
  hears({});
  hold(other, 0, 5, false);
  EXPECT_EQ(pump(104), Sizes{});
  EXPECT_EQ(pump(105), Sizes{1});
}

TEST_F(Streamed, BeginsAnewWhereTheOtherEndHasGivenNamesUp) {
  hold_own(0, 2);
  hears(own(2), 0);
  EXPECT_EQ(pump(), Sizes{});
  hears(own(1), 0);
  EXPECT_EQ(pump(), Sizes{1});
}

TEST_F(Streamed, IsBehindUntilItHasAModelOrTheRest) {
  hears({});
  hold_own(0, 4);
  EXPECT_FALSE(stream.fall_behind(holdings, 4));
  EXPECT_TRUE(stream.fall_behind(holdings, 3));
  EXPECT_FALSE(stream.fall_behind(holdings, 3));  // no news
  EXPECT_TRUE(stream.is_behind());
  EXPECT_EQ(stream.times_behind(), 1u);
  holdings.log().drop(own(2), 9);
  stream.catch_up(holdings);
  EXPECT_TRUE(stream.is_behind());
  hears(own(2));
  stream.catch_up(holdings);
  EXPECT_FALSE(stream.is_behind());
  EXPECT_EQ(pump(), (Sizes{1, 1}));
}

TEST_F(Streamed, AfterAModelOnlyTheRestIsSent) {
  hears({});
  hold_own(0, 3);
  stream.want_model();
  EXPECT_TRUE(stream.wants_model());
  stream.promise(own(2));
  EXPECT_FALSE(stream.fall_behind(holdings, 1));  // the model brings two of them
  stream.serve(own(2));
  EXPECT_FALSE(stream.wants_model());
  EXPECT_TRUE(stream.is_served());
  EXPECT_EQ(pump(), Sizes{1});
}

TEST_F(Streamed, AModelIsNeededWhereTheOtherEndCannotStream) {
  GradientSet theirs;
  theirs.insert({other, 0});
  hears(theirs, 0, false);
  EXPECT_TRUE(stream.is_merging(holdings));
  EXPECT_FALSE(stream.needs_its_model({}, 1, patience));
  hears(theirs, 0, false);
  EXPECT_TRUE(stream.needs_its_model({}, 1, patience));
  hears(theirs, 0, true);
  EXPECT_FALSE(stream.is_merging(holdings));
  EXPECT_FALSE(stream.needs_its_model({}, 1, patience));
}

TEST_F(Streamed, AModelIsNeededWhereNothingLackedHasComeForLong) {
  GradientSet theirs;
  theirs.insert({other, 0});
  theirs.insert({other, 1});
  const auto is_needed = [&](Nanoseconds now) {
    return stream.needs_its_model(holdings.names(), now, patience);
  };
  hears(theirs, 0, true, 5);
  hears(theirs, 0, true, 8);
  EXPECT_FALSE(is_needed(5 + patience));
  EXPECT_TRUE(is_needed(6 + patience));
  hold(other, 1, 20, false);  // a thin link, but not one that is stuck
  theirs.insert({other, 2});
  hears(theirs, 0, true, 20);
  EXPECT_FALSE(is_needed(20 + patience));
  EXPECT_TRUE(is_needed(21 + patience));
  hold(other, 0, 20, false);
  EXPECT_FALSE(is_needed(21 + patience));
}

TEST_F(Streamed, WhatTheOtherEndGetsFromItsOriginNeedsNoModel) {
  const auto gradient = [&](std::uint32_t sequence) {
    const auto made = std::make_shared<Gradient>();
    made->name = {other, sequence};
    made->update.resize<float>(2);
    return Parcel(GradientPtr(made));
  };
  Pending sum;  // the origin has bundled two for us, of which it sent one alone to the other end
  sum.add(gradient(0));
  sum.add(gradient(1));
  holdings.add(sum.take(), 1, false);
  GradientSet first;
  first.insert({other, 0});
  hears(first);
  EXPECT_FALSE(stream.can_stream(holdings)) << "a bundle is not taken apart";
  linked = {other};
  hears(first);
  EXPECT_TRUE(stream.can_stream(holdings)) << "the origin does it";
  stream.trust_origins(false);
  EXPECT_FALSE(stream.can_stream(holdings));
}

TEST_F(Streamed, WhereOriginsAreNotTrustedAllThatIsLackedCounts) {
  stream.trust_origins(false);
  hold(other, 0, 1, false);
  linked = {other};
  hears({});
  EXPECT_TRUE(stream.can_stream(holdings));
  GradientSet theirs;
  for (const std::uint32_t k : {1, 2}) theirs.insert({other, k});
  hears(theirs, 0, true, 5);
  hold(other, 1, 20, false);
  hears(theirs, 0, true, 20);
  EXPECT_TRUE(stream.needs_its_model(holdings.names(), 6 + patience, patience))
      << "some of it has come, but not all";
  stream.trust_origins(true);
  EXPECT_FALSE(stream.needs_its_model(holdings.names(), 6 + patience, patience));
}

TEST_F(Streamed, WhatWaitsForItsOriginDoesNotHoldUpOtherRepairs) {
  const WorkerId dead = roster.number({3, 3});
  hold(other, 0, 1, false);  // its origin is linked to the other end
  hold(dead, 0, 1, false);
  linked = {other};
  hears({});
  EXPECT_EQ(pump(10), Sizes{});
  EXPECT_EQ(pump(11), Sizes{1}) << "that of the dead one";
  EXPECT_EQ(pump(100), Sizes{});
  EXPECT_EQ(pump(101), Sizes{1}) << "its origin has not sent it";
}

TEST_F(Streamed, WhoseLinkToAnOriginIsLostIsSentWhatItLacksAtOnce) {
  hold(other, 0, 1, false);
  linked = {other};
  hears({});
  EXPECT_EQ(pump(50), Sizes{});
  linked.clear();
  hears({});
  EXPECT_EQ(pump(50), Sizes{1});
}

TEST(WindowsOf, SmallGradientsAreManyAndLargeOnesFew) {
  Roster roster;
  const Membership members{{.origin = {1, 1}, .address = "here:1"}, roster, {}};
  const ProtocolOptions small{.dimension = 1}, large{.dimension = 100'000'000};
  EXPECT_EQ(Windows(small, members).most_under_way(), 4096u);
  EXPECT_EQ(Windows(large, members).most_under_way(), 4u);
  EXPECT_EQ(Windows(small, members).most_unfolded(), small.limits.in_flight);
  EXPECT_EQ(Windows(large, members).most_unfolded(), 4u);
  EXPECT_EQ(Windows(large, members).most_waiting(), 6u);
  EXPECT_EQ(Windows(small, members).most_bytes_in_log(), std::uint64_t{1} << 30);
  EXPECT_EQ(Windows(large, members).most_bytes_in_log(),
            3 * 6 * (std::uint64_t{400'000'000} + 1024 + 4));
}

TEST(WindowsOf, GradientsAreRelayedAtOnceWhereNotAllAreLinked) {
  Roster roster;
  Membership members{{.origin = {1, 1}, .address = "here:1"}, roster, {}};
  const ProtocolOptions options{.dimension = 1, .limits = {.most_in_mesh = 1}};
  EXPECT_FALSE(Windows(options, members).relays_at_once());
  const WorkerId other = roster.number({2, 2});
  members.grow();
  members[other].record.address = "there:1";
  members.heard_from(other, 1);
  EXPECT_TRUE(Windows(options, members).relays_at_once());
  const ProtocolOptions usual{.dimension = 1};
  EXPECT_FALSE(Windows(usual, members).relays_at_once());
}

}  // namespace
}  // namespace dasgd::elastic::test
