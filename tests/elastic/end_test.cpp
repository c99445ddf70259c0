// When members agree that the run is over.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <variant>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

// The worker needs a moment to go over to another model and to make the gradient that corrects it.
// Whoever agreed with the others in that moment would end with one gradient more than they.
TEST(End, WaitsForTheGradientThatCorrectsAnAdoption) {
  Said network;
  ProtocolOptions options = founder();
  options.limits.in_flight = 1;
  Protocol one(options, network);
  Peer other(one, LinkId{1}, {2, 2});
  constexpr std::uint32_t branch = 20;
  GradientSet theirs, both;
  theirs.insert_range({other.roster.number({2, 2}), 0, branch});
  both = theirs;
  both.insert_range({other.roster.number({1, 1}), 0, branch});
  other.report(true, 1);
  for (std::uint32_t i = 0; i < branch; ++i) compute(one, i, 2);
  one.stop_run(StopReason::asked, 3);
  one.stopped(3);
  for (Nanoseconds now : {4, 5}) other.report_stopped(theirs, false, now);
  ASSERT_EQ(network.count<Want>(other.link), 1u);
  ASSERT_TRUE(other.send_model(6, theirs));
  const Task task = one.next_task(7);
  ASSERT_TRUE(std::holds_alternative<Adoption>(task));
  ASSERT_TRUE(std::get<Adoption>(task).mean);
  EXPECT_EQ(one.held().size(), 2 * branch);

  Nanoseconds now = a_second;
  const auto is_ready = [&] { return network.last_record(other.link, {1, 1}).ready != Hash{}; };
  other.report_stopped(both, true, now);
  one.tick(now += a_second / 5);
  EXPECT_FALSE(is_ready());
  compute(one, branch, now);  // the correction
  one.tick(now += a_second / 5);
  EXPECT_FALSE(is_ready());  // the other does not have it
  both.insert({other.roster.number({1, 1}), branch});
  other.report_stopped(both, true, now);
  one.tick(now += a_second / 5);
  EXPECT_TRUE(is_ready());
  EXPECT_FALSE(one.is_over());  // before the other has said so
}

// On a thin link gradients may take long to arrive: who counted only those that have would go on
// and on.
TEST(End, ABudgetCountsWhatOthersReport) {
  Said network;
  ProtocolOptions options = founder();
  options.budget = {.gradients = 10};
  Protocol one(options, network);
  Peer other(one, LinkId{1}, {2, 2});
  other.report(true, 1);
  for (std::uint32_t i = 0; i < 4; ++i) compute(one, i, 2);
  const auto report = [&](std::uint64_t computed) {
    Record record = other.record();
    record.computed = computed;
    other.say_of_itself(record, 3);
  };
  report(5);
  EXPECT_EQ(one.ending(), std::nullopt);
  report(6);
  EXPECT_EQ(one.ending(), StopReason::budget);
}

// Whoever hears that somebody has ended with the same names has not been ready itself.
TEST(End, NothingIsTakenInAfterIt) {
  Said network;
  Protocol one({.origin = {1, 1}, .facts = "same", .founder = true, .dimension = dimension},
               network);
  Peer other(one, LinkId{1}, {2, 2}), third(one, LinkId{2}, {3, 3});
  other.report(true, 1);
  third.report(true, 1);
  one.stop_run(StopReason::asked, 2);
  one.stopped(2);
  other.say(Goodbye{true, other.roster.hash({}), {5, 6}}, 3);
  ASSERT_TRUE(one.is_over());
  third.send_gradient(0, 4);
  EXPECT_EQ(one.held().size(), 0u);
  EXPECT_EQ(one.inbox().depth(), 0u);
}

/// Two members that have ended with the same names, and the second has not sent its digest.
// Whoever leaves reports it until it is gone, each time with a new number.
TEST(End, ThatSomebodyLeftIsSaidOnce) {
  Said network;
  Protocol member(founder(), network);
  Peer leaver(member, LinkId{1}, {2, 2});
  leaver.report(true, 1);
  member.take_events();
  for (Nanoseconds now = 2; now < 5; ++now) {
    Record record = leaver.record();
    record.left = true;
    leaver.say_of_itself(record, now);
  }
  const auto events = member.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "peer left");
}

TEST(End, WhoeverLeavesIsNotCountedAsHereAtIt) {
  Said network;
  Protocol member(founder(), network);
  Peer other(member, LinkId{1}, {2, 2});
  other.report(true, 1);
  EXPECT_EQ(member.audit().here, 2u);
  member.leave(2);
  member.stopped(2);
  member.tick(a_second);
  EXPECT_EQ(member.audit().here, 1u);
  EXPECT_EQ(member.audit().left, 1u);
}

struct Ended : ::testing::Test {
  Ended() {
    other.report(true, 1);
    one.stop_run(StopReason::asked, 2);
    one.stopped(2);
    report({}, 3);
    one.tick(a_second);
    const Hash ready = network.last_record(other.link, {1, 1}).ready;
    EXPECT_NE(ready, Hash{});
    report(ready, a_second);
  }
  void report(const Hash& ready, Nanoseconds now, const Hash& digest = {}) {
    Record record = other.record();
    record.stopped = true;
    record.names = other.roster.hash({});
    record.ready = ready;
    record.digest = digest;
    other.say_of_itself(record, now);
  }

  Said network;
  Protocol one{founder(), network};
  Peer other{one, LinkId{1}, {2, 2}};
  const Hash mine{5, 6}, theirs{7, 8};
};

TEST_F(Ended, TheyExchangeTheDigestsOfTheirModels) {
  ASSERT_TRUE(one.is_over());
  one.compare(mine, 2 * a_second);
  EXPECT_FALSE(one.has_compared(2 * a_second));
  one.tick(2 * a_second);
  EXPECT_EQ(network.last_record(other.link, {1, 1}).digest, mine);
  report({}, 3 * a_second, theirs);
  EXPECT_TRUE(one.has_compared(3 * a_second));
  const auto digests = one.audit().digests;
  ASSERT_EQ(digests.size(), 2u);
  EXPECT_EQ(digests[0], std::pair(std::string("one"), mine));
  EXPECT_EQ(digests[1].second, theirs);
}

TEST_F(Ended, AMemberThatDiesBeforeItReportsIsNotAwaited) {
  one.compare(mine, 2 * a_second);
  one.lost(other.link, 3 * a_second);
  one.dial_failed(LinkId{99}, true, 3 * a_second);
  EXPECT_TRUE(one.has_compared(one.options().patience.gone * 5));
  EXPECT_EQ(one.audit().digests.size(), 1u);
}

TEST_F(Ended, AGoodbyeCarriesItToo) {
  one.compare(mine, 2 * a_second);
  other.say(Goodbye{true, other.roster.hash({}), theirs}, 3 * a_second);
  EXPECT_TRUE(one.has_compared(3 * a_second));
  EXPECT_EQ(one.audit().digests.size(), 2u);
}

}  // namespace
}  // namespace dasgd::elastic::test
