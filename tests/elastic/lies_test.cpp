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

/// The end of a run of three, of whom one forges digests.
struct ForgedDigests : ::testing::Test {
  ForgedDigests() {
    for (Peer* peer : {&liar, &honest}) peer->report(true, 1);
    one.stop_run(StopReason::asked, 2);
    one.stopped(2);
    for (Peer* peer : {&liar, &honest}) peer->report_stopped({}, true, 3);
    one.tick(a_second);
    const Hash ready = network.last_record(honest.link, {1, 1}).ready;
    for (Peer* peer : {&liar, &honest}) {
      const Record record = ended(*peer, ready, {});
      peer->say_of_itself(record, a_second);
    }
    EXPECT_TRUE(one.is_over());
    one.compare(mine, a_second);
  }
  static Record ended(Peer& peer, const Hash& ready, const Hash& digest) {
    Record record = peer.record();
    record.stopped = true;
    record.names = peer.roster.hash({});
    record.ready = ready;
    record.digest = digest;
    return record;
  }
  /// The liar says this of the honest member.
  void forge(const Hash& digest) {
    Record record = ended(honest, {}, digest);
    record.version += 1'000;
    liar.say_of_itself(record, 2 * a_second);
  }
  Hash digest_of(const std::string& name) {
    for (const auto& [member, digest] : one.audit().digests)
      if (member == name) return digest;
    return {};
  }

  Said network;
  Protocol one{founder(), network};
  Peer liar{one, LinkId{1}, {2, 2}, "", "liar"}, honest{one, LinkId{2}, {3, 3}, "", "honest"};
  const Hash mine{5, 6}, theirs{7, 8};
};

TEST_F(ForgedDigests, OfAMemberThatIsLinkedAreNotBelieved) {
  liar.say_of_itself(ended(liar, {}, mine), a_second);
  forge(mine);
  EXPECT_EQ(digest_of("honest"), Hash{});
  EXPECT_FALSE(one.has_compared(2 * a_second));
  honest.say_of_itself(ended(honest, {}, theirs), 3 * a_second);  // older than what was forged
  EXPECT_TRUE(one.has_compared(3 * a_second));
  EXPECT_EQ(digest_of("honest"), theirs);
  forge(mine);
  EXPECT_EQ(digest_of("honest"), theirs);
}

TEST_F(ForgedDigests, OfTheLiarItselfAreReportedAndNameIt) {
  liar.say_of_itself(ended(liar, {}, theirs), a_second);
  honest.say_of_itself(ended(honest, {}, mine), 2 * a_second);
  EXPECT_TRUE(one.has_compared(2 * a_second));
  EXPECT_EQ(digest_of("honest"), mine);
  EXPECT_EQ(digest_of("liar"), theirs);
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
