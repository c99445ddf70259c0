// What somebody with the token makes up of others: the others put it right.
#include <gtest/gtest.h>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

Report a_lie(Origin of, std::uint64_t version) {
  Report report;
  report.records.push_back({.origin = of, .version = version, .name = "liar"});
  return report;
}

TEST(Lies, OfThisMemberAreOutdatedByItsNextWord) {
  Said network;
  Protocol member(founder(), network);
  Peer liar(member, LinkId{1}, {2, 2}), friendly(member, LinkId{2}, {3, 3});
  liar.say(a_lie({1, 1}, 1'000'000), 1);
  member.tick(a_second);
  EXPECT_GT(network.last_record(friendly.link, {1, 1}).version, 1'000'000u);
  EXPECT_NE(network.last_record(friendly.link, {1, 1}).name, "liar");
}

TEST(Lies, OfTheEndOfAnotherAreTakenBackByIt) {
  for (const bool ended : {false, true}) {
    Said network;
    Protocol member(founder(), network);
    Peer liar(member, LinkId{1}, {2, 2}), friendly(member, LinkId{2}, {3, 3});
    friendly.report(true, 1);
    Report lie = a_lie({3, 3}, 1'000);
    lie.records[0].left = !ended;
    lie.records[0].ended = ended;
    liar.say(lie, 2);
    const auto state = [&] {
      for (const MemberView& view : member.members(4))
        if (view.origin == Origin{3, 3}) return view.state;
      return std::string("nobody");
    };
    EXPECT_EQ(state(), "left");
    friendly.version = 1'000;  // it has heard of that
    friendly.report(true, 3);
    friendly.report(true, 4);
    EXPECT_EQ(state(), "here");
  }
}

TEST(Lies, BeyondTheLastVersionAreRefused) {
  Said network;
  Protocol member(founder(), network);
  Peer liar(member, LinkId{1}, {2, 2});
  liar.say(a_lie({1, 1}, highest_version + 1), 1);
  EXPECT_EQ(network.closed.size(), 1u);
}

}  // namespace
}  // namespace dasgd::elastic::test
