// Whoever may not join gets the reason.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {
namespace {

/// What a member says to somebody who has just come.
struct Answers : Wires {
  LinkId dial(const std::string&) override { return {}; }
  void send(LinkId, Bytes header, std::span<const std::byte>,
            std::shared_ptr<const void>) override {
    said.push_back(*decode(header, names, roster));
  }
  std::size_t queued_bytes(LinkId) const override { return 0; }
  void close(LinkId) override { closed = true; }

  Introductions names;
  Roster roster;
  std::vector<Message> said;
  bool closed = false;
};

TEST(Refusals, NameWhatDiffers) {
  const std::vector<std::string> facts{"version: 0.1.0", "model: 10 numbers of 64 bits",
                                       "start: a point of length 1", "data: 7 samples", "seed: 1"};
  const auto text_of = [&](std::size_t other) {
    std::string text;
    for (std::size_t k = 0; k < facts.size(); ++k) text += facts[k] + (k == other ? "9\n" : "\n");
    return text;
  };
  for (std::size_t k = 0; k < facts.size(); ++k) {
    Answers network;
    Protocol protocol(
        {.origin = {1, 1}, .name = "a", .facts = text_of(facts.size()), .founder = true}, network);
    const LinkId link{1};
    protocol.linked(link, false, 0);
    Introductions out;
    Roster roster;
    const Hello hello{{}, {2, 2}, "b", "", text_of(k)};
    protocol.received(link, encode(hello, out, roster), 1);
    ASSERT_EQ(network.said.size(), 2u);  // a hello comes first
    EXPECT_EQ(std::get<Refusal>(network.said.back()).why,
              "the run has " + facts[k] + "; you have " + facts[k] + "9");
    EXPECT_TRUE(network.closed);
  }
}

// Its hello has introduced it by then.
TEST(Refusals, MakeNobodyAMember) {
  Answers network;
  Protocol protocol({.origin = {1, 1}, .name = "a", .facts = "seed: 1\n", .founder = true},
                    network);
  const LinkId link{1};
  protocol.linked(link, false, 0);
  Introductions out;
  Roster roster;
  roster.number({2, 2});
  protocol.received(link, encode(Hello{{}, {2, 2}, "b", "", "seed: 2\n"}, out, roster), 1);
  ASSERT_TRUE(std::holds_alternative<Refusal>(network.said.back()));
  EXPECT_EQ(protocol.audit().members, 1u);
  EXPECT_EQ(protocol.audit().lost_members, 0u);
  EXPECT_EQ(protocol.members(2).size(), 1u);

  const LinkId other{2};  // admitted, and goes before it has a model
  protocol.linked(other, false, 3);
  Introductions names;
  protocol.received(other, encode(Hello{{}, {3, 3}, "c", "", "seed: 1\n"}, names, roster), 3);
  EXPECT_EQ(protocol.audit().members, 2u);
  protocol.received(other, encode(Goodbye{}, names, roster), 4);
  EXPECT_EQ(protocol.audit().members, 1u);
  EXPECT_EQ(protocol.audit().left, 0u);
}

// Whoever has the token can send anything, and others show it on their terminals.
TEST(Refusals, NamesThatAreNoText) {
  const auto is_read = [](const Message& message) {
    Introductions out, in;
    Roster ours, theirs;
    return decode(encode(message, out, ours), in, theirs).has_value();
  };
  const auto report = [](const std::string& name) {
    Report report;
    report.records.push_back({.origin = {2, 2}, .version = 1, .name = name});
    return report;
  };
  for (const std::string name : {"evil\x1b[31m", "two\nlines", "\xc2\x9b", "\x7f", "\xff"}) {
    EXPECT_FALSE(is_read(Hello{{}, {2, 2}, name, "", ""})) << name;
    EXPECT_FALSE(is_read(report(name))) << name;
  }
  for (const std::string name : {"a", "m\xc3\xbcller-2:7_x.y", "\xc2\xa0"}) {
    EXPECT_TRUE(is_read(Hello{{}, {2, 2}, name, "", ""})) << name;
    EXPECT_TRUE(is_read(report(name))) << name;
  }
}

TEST(Refusals, ToForgetOneOfTwoWithTheSameName) {
  Answers network;
  Protocol protocol({.origin = {1, 1}, .name = "a", .facts = "seed: 1\n", .founder = true},
                    network);
  for (std::uint64_t k : {2, 3}) {
    protocol.linked(LinkId{k}, false, 0);
    Introductions out;
    Roster roster;
    protocol.received(LinkId{k}, encode(Hello{{}, {k, k}, "b", "", "seed: 1\n"}, out, roster), 1);
  }
  const std::string two = Origin{2, 2}.text(), three = Origin{3, 3}.text();
  EXPECT_EQ(protocol.forget("b", 2),
            "several members are called b; name one by its origin: " + two + ", " + three);
  EXPECT_EQ(protocol.forget(two, 2), two + " is here: only a silent member can be forgotten");
  const Nanoseconds later = 2 * Patience().suspect;
  EXPECT_EQ(protocol.forget(two, later), "");
  EXPECT_EQ(protocol.forget("b", later), "");
  EXPECT_EQ(protocol.forget("b", later), "b is already dead");
}

/// A newcomer who has called a member, and what that member then says.
struct Newcomer {
  void hears(const Message& message) { protocol.received(link, encode(message, names, roster), 1); }

  Answers network;
  Protocol protocol{{.origin = {1, 1}, .name = "a", .facts = "seed: 1\n"}, network};
  const LinkId link{1};
  Introductions names;
  Roster roster;
};

TEST(Refusals, AreReportedToNewMembersOnceAndInOneLine) {
  Newcomer a;
  a.protocol.linked(a.link, true, 0);
  a.hears(Hello{{}, {2, 2}, "b", "", "seed: 1\n"});
  a.protocol.take_events();  // that b is there
  a.hears(Refusal{"the run is ending"});
  a.protocol.leave(2);
  EXPECT_EQ(a.protocol.could_not_join(), "the run is ending");
  EXPECT_TRUE(a.protocol.take_events().empty());
}

TEST(Refusals, WhoWaitsForAModelHearsThatTheRunHasEnded) {
  Newcomer a;
  a.protocol.linked(a.link, true, 0);
  a.hears(Hello{{}, {2, 2}, "b", "", "seed: 1\n"});
  EXPECT_EQ(a.protocol.could_not_join(), "");
  a.hears(Goodbye{true, {3, 4}});
  EXPECT_EQ(a.protocol.could_not_join(), "the run has ended");
  EXPECT_TRUE(a.protocol.is_over());
}

}  // namespace
}  // namespace dasgd::elastic
