// What a member sends to one that reports, how much it computes unheard, and for whom it waits.
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

TEST(Stream, WhatIsOnItsWayIsNotSentAgainUnlessItWasGivenUp) {
  Said network;
  Protocol one(founder(), network);
  Peer other(one, LinkId{1}, {2, 2}, "there:2");
  other.report(true, 1);
  compute(one, 0, 2);
  EXPECT_EQ(network.count<GradientMessage>(other.link), 1u);
  other.report(true, 3);  // it has not come yet
  one.pump(4);
  EXPECT_EQ(network.count<GradientMessage>(other.link), 1u);
  Report report;
  report.held.insert({other.roster.number({1, 1}), 0});
  other.say(report, 5);
  one.pump(6);
  EXPECT_EQ(network.count<GradientMessage>(other.link), 1u);
  other.say(Report{}, 7);
  one.pump(8);
  EXPECT_EQ(network.count<GradientMessage>(other.link), 2u);
}

// If all make as many before they hear of each other, a quarter of what is left is used up.
TEST(Stream, AMembersShareOfABudgetIsWhatItMakesUnheard) {
  for (const std::uint64_t members : {1, 2, 3}) {
    Said network;
    ProtocolOptions options = founder();
    options.budget.gradients = 240;
    Protocol one(options, network);
    std::vector<std::unique_ptr<Peer>> others;
    for (std::uint64_t k = 2; k <= members; ++k) {
      others.push_back(std::make_unique<Peer>(one, LinkId{k}, Origin{k, k}, "there:2"));
      others.back()->report(true, 1);
    }
    one.pump(2);
    std::uint32_t made = 0;
    for (; one.may_compute() && made < 240; ++made) {
      const auto own = one.blank();
      own->name = {Membership::self, made};
      own->update.resize_bytes(4 * dimension, NumberFormat::of_float);
      one.own(own, 3);
    }
    EXPECT_GE(made, (240 - made) / (4 * members)) << members;
    EXPECT_LT(made - 1, (240 - (made - 1)) / (4 * members)) << members;
  }
}

TEST(End, WhoHasNoSamplesLeftWaitsForThoseWhoHave) {
  Said network;
  Protocol one(founder(), network);
  Peer other(one, LinkId{1}, {2, 2}, "there:2");
  other.report(true, 1);
  one.stopped(2);
  EXPECT_EQ(one.ending(), std::nullopt);
  other.report(true, 3);
  EXPECT_EQ(one.ending(), std::nullopt);
  other.report_stopped({}, true, 4);
  EXPECT_EQ(one.ending(), StopReason::samples);
}

}  // namespace
}  // namespace dasgd::elastic::test
