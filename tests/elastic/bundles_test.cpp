// Own gradients that wait for a link leave as one.
#include <cstring>
#include <gtest/gtest.h>

#include "dasgd/core/packing.hpp"
#include "elastic/peer.hpp"
#include "elastic/scenario.hpp"

namespace dasgd::elastic::test {
namespace {

/// A link that takes one message at a time, and keeps bodies.
struct Thin : Said {
  void send(LinkId link, Bytes header, std::span<const std::byte> body,
            std::shared_ptr<const void> keeper) override {
    bodies.emplace_back(body.begin(), body.end());
    busy = busy || !body.empty();
    Said::send(link, std::move(header), body, std::move(keeper));
  }
  std::size_t queued_bytes(LinkId) const override { return busy ? 1 << 20 : 0; }

  bool busy = false;
  std::vector<Bytes> bodies;
};

ProtocolOptions one_at_a_time() {
  ProtocolOptions options = founder();
  options.address = "here:1";
  options.limits.most_queued_bytes = 1;
  return options;
}

/// Two numbers, the second negative.
void compute_numbers(Protocol& protocol, std::uint32_t sequence, Nanoseconds now) {
  const auto own = protocol.blank();
  own->name = {Membership::self, sequence};
  own->compute_set = protocol.held();
  own->origin_step = own->compute_set.size();
  own->samples = 1;
  own->update.resize<float>(dimension);
  own->update.shift = 1;
  own->update.numbers<float>()[0] = static_cast<Number<float>>(sequence + 1);
  own->update.numbers<float>()[1] = -static_cast<Number<float>>(sequence + 1);
  protocol.own(own, now);
  protocol.pump(now);
}

TEST(Bundles, CarryWhatHasWaitedForTheLink) {
  Thin network;
  Protocol one(one_at_a_time(), network);
  Peer other(one, LinkId{1}, {2, 2}, "there:2");
  other.report(true, 1);
  for (std::uint32_t k = 0; k < 6; ++k) compute_numbers(one, k, 2 + k);
  EXPECT_EQ(network.count<GradientMessage>(other.link), 1u);
  EXPECT_EQ(network.count<BundleMessage>(other.link), 0u);
  network.busy = false;
  one.pump(10);
  ASSERT_EQ(network.count<BundleMessage>(other.link), 1u);
  const auto& bundle = std::get<BundleMessage>(network.said[other.link].back());
  ASSERT_EQ(bundle.facts.size(), 5u);
  EXPECT_EQ(bundle.facts.front().name.sequence, 1u);
  EXPECT_EQ(bundle.facts.back().name.sequence, 5u);
  EXPECT_EQ(bundle.facts.back().origin_step, 5u);  // its set came along
  std::vector<Sum<float>> sums(dimension);
  ASSERT_TRUE(
      unpack(network.bodies.back(), sizeof(Sum<float>), std::as_writable_bytes(std::span(sums))));
  EXPECT_EQ(sums[0], 2 * (2 + 3 + 4 + 5 + 6));
  EXPECT_EQ(sums[1], -sums[0]);
  const auto links = one.audit().links;
  ASSERT_EQ(links.size(), 1u);
  EXPECT_FALSE(links[0].to.empty());
  EXPECT_EQ(links[0].messages, 2u);
  EXPECT_EQ(links[0].gradients, 6u);
  EXPECT_GT(links[0].bytes, 0u);
  const auto seen = one.members(a_second + 2);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].behind, 6u);
  EXPECT_EQ(seen[1].seconds_behind, 1);  // since its first gradient
  EXPECT_EQ(seen[1].messages, 2u);
  EXPECT_EQ(seen[1].gradients_sent, 6u);
}

TEST(Bundles, AreTakenWholeOrNotAtAll) {
  Thin network;
  Protocol one(one_at_a_time(), network);
  Peer other(one, LinkId{1}, {2, 2}, "there:2");
  other.report(true, 1);
  const auto send = [&](std::uint32_t first, std::uint32_t count) {
    BundleMessage message;
    for (std::uint32_t k = 0; k < count; ++k) {
      GradientFacts facts;
      facts.name = {other.roster.number(other.origin), first + k};
      message.facts.push_back(facts);
    }
    const std::vector<Sum<float>> sums{7, -7};
    const Bytes body = pack(std::as_bytes(std::span(sums)), sizeof(Sum<float>));
    const Bytes header = encode(message, other.names, other.roster);
    const auto place = one.body(other.link, header, body.size(), 2);
    ASSERT_TRUE(place);
    std::memcpy(place->data(), body.data(), body.size());
    one.received(other.link, header, 2);
  };
  send(0, 3);
  EXPECT_EQ(one.held().size(), 3u);
  Received received;
  one.inbox().take(8, received);
  ASSERT_TRUE(received.bundle);
  EXPECT_EQ(received.bundle->sums<float>()[1], -7);
  send(2, 3);  // the first of it is here
  EXPECT_EQ(one.held().size(), 3u);
  EXPECT_EQ(one.audit().copies_dropped, 1u);
  send(3, 2);
  EXPECT_EQ(one.held().size(), 5u);
}

TEST(Bundles, ThatAreNoneEndTheLink) {
  const auto closes = [](auto&& change, std::size_t body_bytes) {
    Thin network;
    Protocol one(one_at_a_time(), network);
    Peer other(one, LinkId{1}, {2, 2}, "there:2");
    other.report(true, 1);
    BundleMessage message;
    for (std::uint32_t k = 0; k < 2; ++k) {
      GradientFacts facts;
      facts.name = {other.roster.number(other.origin), k};
      message.facts.push_back(facts);
    }
    change(message);
    const Bytes header = encode(message, other.names, other.roster);
    const auto place = one.body(other.link, header, body_bytes, 2);
    if (place) one.received(other.link, header, 2);
    return !place || !network.closed.empty();
  };
  const auto as_it_is = [](BundleMessage&) {};
  EXPECT_FALSE(closes(as_it_is, 2));  // two bytes: all numbers are zero
  EXPECT_TRUE(closes(as_it_is, 0));
  EXPECT_TRUE(closes(as_it_is, 1));
  EXPECT_TRUE(closes(as_it_is, 3));
  EXPECT_TRUE(closes(as_it_is, 1 << 20));
  EXPECT_TRUE(closes([](auto& m) { m.facts.clear(); }, 2));
  EXPECT_TRUE(closes([](auto& m) { m.facts[1].name.sequence = 2; }, 2));  // there is no tree
  EXPECT_TRUE(closes([](auto& m) { m.facts[1].name = m.facts[0].name; }, 2));
  EXPECT_TRUE(closes([](auto& m) { m.format = NumberFormat::of_double; }, 2));
}

// Whoever has a link to the origin is not sent the same by others meanwhile: it could not separate
// the sums apart.
TEST(Bundles, AreNotOvertakenByRepairs) {
  const auto repaired_after = [](bool linked, Nanoseconds wait) {
    Thin network;
    Protocol one(one_at_a_time(), network);
    Peer maker(one, LinkId{1}, {2, 2}, "there:2"), other(one, LinkId{2}, {3, 3}, "there:3");
    maker.report(true, 1);
    Report report;
    report.records.push_back(other.record());
    if (linked) report.linked.push_back(other.roster.number(maker.origin));
    other.say(report, 1);
    maker.send_gradient(0, 2);
    other.say(Report{{}, true, {other.record()}, 0, report.linked}, 2 + wait);
    one.pump(2 + wait);
    return network.count<GradientMessage>(other.link) == 1;
  };
  EXPECT_FALSE(repaired_after(false, a_second / 10));
  EXPECT_TRUE(repaired_after(false, a_second / 2));
  EXPECT_FALSE(repaired_after(true, a_second / 2));
  EXPECT_FALSE(repaired_after(true, 19 * a_second));
  EXPECT_TRUE(repaired_after(true, 20 * a_second));
}

// A gradient is on its way for as long as ten are made: links are behind by a message or two, and
// nobody needs a model.
TEST(Bundles, KeepAThinLinkFromFallingBehind) {
  const Quadratic objective = Quadratic::random(7, 400);
  WorldOptions options = quick_world(3);
  options.compute = 20'000'000;
  options.protocol.limits.most_queued_bytes = 1;
  options.protocol.limits.most_waiting_bytes = 1 << 20;
  options.arrival = one_frame_at_a_time([](std::size_t, std::size_t bytes) {
    return static_cast<Nanoseconds>(bytes) * (200'000'000 / 3'200);
  });
  World<double> world(objective, options);
  world.add();
  world.run_for(1'000'000'000);
  world.add();
  world.run_for(60'000'000'000);
  EXPECT_GT(world.worker(0).t(), 2000u);
  EXPECT_LT(world.protocol(0).held().count_missing_from(world.protocol(1).held()), 60u);
  world.stop_run(0);
  EXPECT_TRUE(world.run_until_over(120'000'000'000));
  EXPECT_EQ(world.verify(), "");
  std::size_t adoptions = 0;
  for (const std::string& line : world.history())
    adoptions += line.find("adopted the model") != line.npos ? 1 : 0;
  EXPECT_EQ(adoptions, 0u);
}

// An origin bundles its gradients for each link in another way, so members that have a bundle
// cannot send a part of it. Nobody needs a model for that: the origin sends the rest.
TEST(Bundles, ThatDifferFromLinkToLinkNeedNoModels) {
  const Quadratic objective = Quadratic::random(7, 400);
  WorldOptions options = quick_world(3);
  options.compute = 20'000'000;
  options.protocol.limits.most_queued_bytes = 1;
  options.arrival = one_frame_at_a_time([](std::size_t, std::size_t bytes) {
    return static_cast<Nanoseconds>(bytes) * (60'000'000 / 3'200);
  });
  World<double> world(objective, options);
  for (int k = 0; k < 4; ++k) {
    world.add();
    world.run_for(2'000'000'000);
  }
  world.run_for(30'000'000'000);
  world.stop_run(0);
  EXPECT_TRUE(world.run_until_over(10'000'000'000)) << "what is under way arrives";
  EXPECT_EQ(world.verify(), "");
  std::size_t adoptions = 0;
  for (const std::string& line : world.history())
    adoptions += line.find("adopted the model") != line.npos ? 1 : 0;
  EXPECT_LE(adoptions, 8u) << "72 where members asked each other for the rest";
}

}  // namespace
}  // namespace dasgd::elastic::test
