// What a newcomer gets, and when.
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {
namespace {

constexpr std::size_t dimension = 2;
constexpr Nanoseconds a_second = 1'000'000'000;

/// Keeps what a member says, by link.
struct Said : Wires {
  LinkId dial(const std::string&) override { return LinkId{99}; }
  void send(LinkId link, Bytes header, std::span<const std::byte>,
            std::shared_ptr<const void>) override {
    said[link].push_back(*decode(header, names[link], roster));
  }
  std::size_t queued_bytes(LinkId) const override { return 0; }
  void close(LinkId link) override { closed.push_back(link); }

  template <typename Kind>
  std::size_t count(LinkId link) {
    std::size_t found = 0;
    for (const Message& message : said[link]) found += std::holds_alternative<Kind>(message);
    return found;
  }

  std::map<LinkId, Introductions> names;
  Roster roster;
  std::map<LinkId, std::vector<Message>> said;
  std::vector<LinkId> closed;
};

/// The other end of a link.
struct Peer {
  Peer(Protocol& to, LinkId id, Origin who) : protocol(to), link(id), origin(who) {
    protocol.linked(link, false, 0);
    say(Hello{{}, origin, "peer", "", "same"}, 0);
  }
  void report(bool joined, Nanoseconds now) {
    Report report;
    report.records.push_back({.origin = origin, .version = ++version, .joined = joined});
    say(report, now);
  }
  void say(const Message& message, Nanoseconds now) {
    protocol.received(link, encode(message, names, roster), now);
  }
  /// Whether there was a place for it.
  bool send_model(Nanoseconds now) {
    const Bytes header = encode(Snapshot{}, names, roster);
    const auto place = protocol.body(link, header, 8 * dimension, now);
    if (!place || place->size() != 8 * dimension) return false;
    protocol.received(link, header, now);
    return true;
  }

  Protocol& protocol;
  const LinkId link;
  const Origin origin;
  Introductions names;
  Roster roster;
  std::uint64_t version = 0;
};

void compute(Protocol& protocol, std::uint32_t sequence, Nanoseconds now) {
  const auto own = protocol.blank();
  own->name = {Membership::self, sequence};
  own->origin_step = sequence;
  own->compute_set = protocol.held();
  own->update.resize_bytes(4 * dimension, NumberFormat::of_float);
  protocol.own(own, now);
  protocol.pump(now);
}

TEST(Newcomers, GetAModelAndThenGradientsOneByOne) {
  Said network;
  Protocol sponsor({.origin = {1, 1}, .facts = "same", .founder = true, .dimension = dimension},
                   network);
  Peer newcomer(sponsor, LinkId{1}, {2, 2});
  compute(sponsor, 0, 1);
  newcomer.report(false, 2);
  sponsor.tick(a_second);
  EXPECT_EQ(network.count<GradientMessage>(newcomer.link), 0u);
  newcomer.say(Want{}, a_second);
  const Task task = sponsor.next_task(a_second);
  ASSERT_TRUE(std::holds_alternative<CopyModel>(task));
  sponsor.copied({std::get<CopyModel>(task).names, 0, std::make_shared<Bytes>(8 * dimension)},
                 a_second);
  sponsor.pump(a_second);
  EXPECT_EQ(network.count<Snapshot>(newcomer.link), 1u);
  EXPECT_EQ(network.count<GradientMessage>(newcomer.link), 0u);  // it is in the model
  compute(sponsor, 1, a_second);
  EXPECT_EQ(network.count<GradientMessage>(newcomer.link), 1u);
}

TEST(Newcomers, TakeTheFirstModelThatComesHoweverLate) {
  Said network;
  Protocol newcomer({.origin = {1, 1}, .facts = "same", .dimension = dimension}, network);
  Peer busy(newcomer, LinkId{1}, {2, 2}), other(newcomer, LinkId{2}, {3, 3});
  Nanoseconds now = 0;
  busy.report(true, now);
  EXPECT_EQ(network.count<Want>(busy.link), 1u);
  for (; now < 7 * a_second; now += a_second / 5) {
    busy.report(true, now);
    other.report(true, now);
    newcomer.tick(now);
  }
  EXPECT_EQ(network.count<Want>(other.link), 1u);  // the first was taken for unable
  ASSERT_TRUE(busy.send_model(now));
  EXPECT_TRUE(std::holds_alternative<Adoption>(newcomer.next_task(now)));
  EXPECT_TRUE(newcomer.has_joined());
  ASSERT_TRUE(other.send_model(now));  // no harm, and no use
  EXPECT_TRUE(std::holds_alternative<std::monostate>(newcomer.next_task(now)));
  EXPECT_FALSE(other.send_model(now));  // nobody has asked for it
  EXPECT_TRUE(network.closed.empty());  // which is for the caller to see to
}

}  // namespace
}  // namespace dasgd::elastic
