// Whom members call, and how often.
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {
namespace {

/// A network in which nobody is at any address.
struct Nobody : Wires {
  LinkId dial(const std::string& address) override {
    ++calls[address];
    open.push_back(static_cast<LinkId>(++last));
    most = std::max(most, open.size());
    return open.back();
  }
  void send(LinkId, Bytes, std::span<const std::byte>, std::shared_ptr<const void>) override {}
  std::size_t queued_bytes(LinkId) const override { return 0; }
  void close(LinkId) override {}

  std::map<std::string, int> calls;
  std::vector<LinkId> open;
  std::uint64_t last = 1000;
  std::size_t most = 0;
};

// Whoever joins late is reported all who ever were there.
TEST(Calls, OfThousandsWhoAreDeadAreFewAtATimeAndEverFewer) {
  constexpr std::uint64_t dead = 2000;
  Nobody network;
  Protocol protocol(
      {.origin = {1, 1}, .name = "a", .address = "a", .facts = "same", .founder = true}, network);
  const LinkId link{1};
  Introductions out;
  Roster roster;
  protocol.linked(link, false, 0);
  protocol.received(link, encode(Hello{{}, {2, 2}, "b", "", "same"}, out, roster), 1);
  Report report;
  for (std::uint64_t k = 0; k < dead; ++k) {
    report.records.push_back({.origin = {3, k}, .version = 1, .address = "x" + std::to_string(k)});
    roster.number(report.records.back().origin);
  }
  protocol.received(link, encode(report, out, roster), 2);
  int in_the_first_minutes = 0, calls = 0;
  for (Nanoseconds now = 0; now < 1'200'000'000'000; now += 200'000'000) {
    protocol.tick(now);
    for (const LinkId id : std::exchange(network.open, {})) {
      ++calls;
      protocol.dial_failed(id, true, now);
    }
    if (now < 600'000'000'000) in_the_first_minutes = calls;
  }
  EXPECT_LE(network.most, 64u);
  EXPECT_EQ(network.calls.size(), dead);
  EXPECT_GE(calls - in_the_first_minutes, static_cast<int>(dead) / 2);  // somebody may come back
  EXPECT_LE(calls - in_the_first_minutes, 2 * static_cast<int>(dead));
}

// A member may guess its address wrong: then nobody there proves nothing.
TEST(Calls, ARefusedCallProvesADeathOnlyWhereTheAddressWasRight) {
  for (const bool is_right : {true, false}) {
    Nobody network;
    Protocol protocol(
        {.origin = {1, 1}, .name = "a", .address = "a:1", .facts = "same", .founder = true},
        network);
    const LinkId link{1};
    Introductions out;
    Roster roster;
    protocol.linked(link, false, 0, is_right ? "10.0.0.2:5555" : "10.9.9.9:5555");
    protocol.received(link, encode(Hello{{}, {2, 2}, "b", "10.0.0.2:7070", "same"}, out, roster),
                      1);
    EXPECT_EQ(protocol.members(2).at(1).state, "here");
    protocol.lost(link, 2);
    EXPECT_EQ(protocol.members(2).at(1).state, "cut off");
    protocol.tick(3);
    ASSERT_EQ(network.open.size(), 1u);
    protocol.dial_failed(network.open.front(), true, 4);
    const auto members = protocol.members(5);
    ASSERT_EQ(members.size(), 2u);
    EXPECT_EQ(members[1].state, is_right ? "dead" : "cut off");
  }
}

}  // namespace
}  // namespace dasgd::elastic
