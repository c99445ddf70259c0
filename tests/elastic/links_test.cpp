// Links, dials and cuts, each by itself: the test is the wires below.
#include <gtest/gtest.h>

#include "dasgd/elastic/cut_watch.hpp"
#include "dasgd/elastic/dialer.hpp"
#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

/// Keeps what is dialed.
struct Dials : Said {
  LinkId dial(const std::string& address) override {
    dialed.push_back(address);
    return LinkId{100 + dialed.size()};
  }
  /// Since the last time.
  std::vector<std::string> take() { return std::exchange(dialed, {}); }
  std::vector<std::string> dialed;
};

using Addresses = std::vector<std::string>;

struct Dialing : ::testing::Test {
  WorkerId meet(Origin origin, const std::string& address) {
    const WorkerId member = roster.number(origin);
    members.grow();
    members[member].record.address = address;
    members.heard_from(member, 1);
    return member;
  }
  void link_to(WorkerId member) {
    MemberLink& link = links.add(LinkId{index(member)}, true, "", 1);
    link.open = true;
    link.member = member;
  }

  Dials wires;
  Roster roster;
  ProtocolOptions options{.origin = {1, 1}, .address = "me:1", .contacts = {"me:1", "some:1"}};
  Membership members{{.origin = {1, 1}}, roster, options.patience};
  LinkTable links{options, wires, roster};
  Dialer dialer{options, wires, members, roster};
};

TEST_F(Dialing, ContactsAreDialedUntilItIsKnownWhoIsThere) {
  dialer.dial(links, 1);
  EXPECT_EQ(wires.take(), Addresses{"some:1"});  // not this member itself
  dialer.dial(links, 2);
  EXPECT_EQ(wires.take(), Addresses{});
  EXPECT_EQ(dialer.settle(LinkId{101}), "some:1");
  EXPECT_EQ(dialer.settle(LinkId{101}), "");
  dialer.dial(links, 1 + options.patience.slowest_dial);
  EXPECT_EQ(wires.take(), Addresses{"some:1"});
  dialer.found("some:1");
  dialer.settle(LinkId{101});
  dialer.dial(links, 99 * options.patience.slowest_dial);
  EXPECT_EQ(wires.take(), Addresses{});
}

TEST_F(Dialing, MembersWithoutALinkAreDialed) {
  dialer.found("some:1");
  const WorkerId linked = meet({2, 2}, "two:1"), other = meet({3, 3}, "three:1");
  meet({4, 4}, "");  // it can only dial itself
  link_to(linked);
  dialer.dial(links, 1);
  EXPECT_EQ(wires.take(), Addresses{"three:1"});
  EXPECT_TRUE(dialer.fail(LinkId{101}, false, links, 2).empty());
  dialer.dial(links, 2);
  EXPECT_EQ(wires.take(), Addresses{});
  dialer.dial(links, 2 + options.patience.first_dial);
  EXPECT_EQ(wires.take(), Addresses{"three:1"});
  members.set_state(other, MemberState::left, 3);
  dialer.settle(LinkId{101});
  dialer.dial(links, 99 * options.patience.slowest_dial);
  EXPECT_EQ(wires.take(), Addresses{});
}

TEST_F(Dialing, ARefusalAtTheRightAddressProvesADeath) {
  dialer.found("some:1");
  const WorkerId other = meet({2, 2}, "two:1");
  const Nanoseconds later = 2 + options.patience.suspect;
  dialer.dial(links, later);
  EXPECT_TRUE(dialer.fail(LinkId{101}, true, links, later).empty());  // it may be elsewhere
  members[other].address_is_right = true;
  dialer.dial(links, 2 * later);
  EXPECT_EQ(dialer.fail(LinkId{102}, true, links, 2 * later), std::vector{other});
  EXPECT_TRUE(dialer.fail(LinkId{102}, true, links, 2 * later).empty());
}

TEST_F(Dialing, OneThatWasHeardLatelyIsNotDeadByARefusal) {
  dialer.found("some:1");
  members[meet({2, 2}, "two:1")].address_is_right = true;
  dialer.dial(links, 1);
  EXPECT_TRUE(dialer.fail(LinkId{101}, true, links, 2).empty());
}

TEST_F(Dialing, InALargeRunEverybodyChoosesSome) {
  options.limits.most_in_mesh = 2;
  options.limits.links = 1;
  std::size_t wanted = 0;
  for (std::uint64_t i = 2; i < 6; ++i) meet({i, i}, "somewhere:1");
  for (std::size_t i = 1; i < members.size(); ++i) wanted += dialer.wants_link(worker_id(i));
  EXPECT_EQ(wanted, 1u);
}

TEST_F(Dialing, TheTableKnowsTheLinkToAMember) {
  const WorkerId other = meet({2, 2}, "two:1");
  MemberLink& link = links.add(LinkId{7}, false, "two:9", 5);
  EXPECT_EQ(link.reported_at, 5);
  EXPECT_EQ(links.to(other), nullptr);
  EXPECT_FALSE(links.has_open());
  EXPECT_FALSE(links.is_open(LinkId{7}));
  link.open = true;
  link.member = other;
  EXPECT_EQ(links.to(other), &link);
  EXPECT_EQ(links.members(), std::vector{other});
  EXPECT_TRUE(links.is_open(LinkId{7}));
  EXPECT_EQ(links.remove(LinkId{7})->remote, "two:9");
  EXPECT_FALSE(links.remove(LinkId{7}));
  EXPECT_EQ(links.find(LinkId{7}), nullptr);
}

TEST_F(Dialing, TheTableCountsWhatLeaves) {
  const WorkerId other = meet({2, 2}, "two:1");
  link_to(other);
  MemberLink& link = *links.to(other);
  links.tick(2'000'000'000);
  links.send(link, Want{});
  links.tick(5'000'000'000);
  const Bytes body(100);
  links.send(link, Want{}, body);
  std::vector<GradientFacts> facts(3);
  for (std::uint32_t k = 0; k < facts.size(); ++k) facts[k].name = {other, k};
  links.send(link, Parcel(std::make_shared<Bundle>(facts, options.format, 16)), 5'000'000'000);
  EXPECT_EQ(wires.count<Want>(link.id), 2u);
  EXPECT_EQ(wires.count<BundleMessage>(link.id), 1u);
  EXPECT_EQ(links.sent().messages, 1u);
  const auto figures =
      links.figures([](WorkerId) { return "two"; }, [](WorkerId) { return "child"; });
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].to, "two");
  EXPECT_EQ(figures[0].gradients, 3u);
  EXPECT_EQ(figures[0].bytes, links.sent().bytes);
  EXPECT_DOUBLE_EQ(figures[0].seconds, 3);
  EXPECT_EQ(links.measure(options.measure_every - 1), 0);
  EXPECT_DOUBLE_EQ(links.measure(2 * options.measure_every), 2);
  EXPECT_DOUBLE_EQ(link.bytes_per_second, static_cast<double>(link.bytes) / 2);
  EXPECT_DOUBLE_EQ(links.measure(3 * options.measure_every), 1);
  EXPECT_EQ(link.bytes_per_second, 0);
}

TEST(Links, ThatSayNoHelloAreClosedAndTheirAddressesDialedAgain) {
  Dials wires;
  ProtocolOptions options = founder();
  options.contacts = {"some:1"};
  Protocol protocol(options, wires);
  Nanoseconds now = a_second;
  protocol.tick(now);
  EXPECT_EQ(wires.take(), Addresses{"some:1"});
  const LinkId incoming{1}, dialed{101};
  protocol.linked(incoming, false, now);
  protocol.linked(dialed, true, now);
  const Nanoseconds last = now + options.patience.gone;
  while (now < last) protocol.tick(now = std::min(now + a_second, last));
  EXPECT_TRUE(wires.closed.empty());
  protocol.tick(++now);
  EXPECT_EQ(wires.closed, (std::vector<LinkId>{incoming, dialed}));
  protocol.tick(now + options.patience.slowest_dial);
  EXPECT_EQ(wires.take(), Addresses{"some:1"});
}

TEST(Cut, AFewGradientsMayBeComputedWhileCutOff) {
  CutWatch cut;
  cut.computed();
  EXPECT_TRUE(cut.may_compute(2));
  cut.update(true, true, 10, 1);
  EXPECT_TRUE(cut.is_cut_off());
  cut.computed();
  EXPECT_TRUE(cut.may_compute(2));
  cut.computed();
  EXPECT_FALSE(cut.may_compute(2));
  cut.update(false, false, 10, 2);
  EXPECT_TRUE(cut.may_compute(2));
}

TEST(Cut, IsReportedOnceItLasts) {
  CutWatch cut;
  EXPECT_EQ(cut.update(true, true, 10, 1), nullptr);
  EXPECT_EQ(cut.update(true, true, 10, 10), nullptr);
  EXPECT_STREQ(cut.update(true, true, 10, 11),
               "lost contact with half of the members or more: waiting for them");
  EXPECT_EQ(cut.update(true, true, 10, 12), nullptr);
  EXPECT_STREQ(cut.update(false, false, 10, 13), "no longer cut off");
  EXPECT_EQ(cut.update(false, false, 10, 14), nullptr);
  cut.update(true, true, 10, 20);
  EXPECT_EQ(cut.update(false, true, 10, 21), nullptr);  // it was not worth a message
}

}  // namespace
}  // namespace dasgd::elastic::test
