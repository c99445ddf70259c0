// What waits is bounded in bytes: behind a link that does not keep up, and for a worker that is
// behind.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "dasgd/elastic/world/sim_member.hpp"
#include "elastic/peer.hpp"
#include "elastic/scenario.hpp"

namespace dasgd::elastic::test {
namespace {

TEST(Memory, WhatWaitsForAWorkerThatIsBehindIsFolded) {
  Said network;
  ProtocolOptions options = founder();
  options.limits.in_flight = 8;
  Protocol one(options, network);
  Peer other(one, LinkId{1}, {2, 2});
  other.report(true, 1);
  constexpr std::uint32_t sent = 1000;
  GradientSet known;
  const WorkerId origin = other.roster.number({2, 2});
  for (std::uint32_t i = 0; i < sent; ++i) {
    GradientMessage message;
    message.facts.name = {origin, i};
    message.facts.origin_step = i;
    message.facts.compute_set = known;
    known.insert(message.facts.name);
    const Bytes header = encode(message, other.names, other.roster);
    ASSERT_TRUE(one.body(other.link, header, 4 * dimension, 2));
    one.received(other.link, header, 2);
  }
  EXPECT_EQ(one.inbox().depth(), sent);
  std::size_t gradients = 0, bundles = 0, all = 0;
  while (one.inbox().depth() > 0) {
    Received received;
    one.inbox().take(1, received);
    gradients += received.gradients.size();
    if (received.bundle) ++bundles;
    all += received.gradients.size() + (received.bundle ? received.bundle->size() : 0);
  }
  EXPECT_EQ(all, sent);
  EXPECT_LE(gradients, 3 * one.options().limits.in_flight);
  EXPECT_LE(bundles, 16u);
}

constexpr std::size_t fit = 24;  // gradients behind a link

/// A frame takes so long; a gradient is made every 2 ms or so.
WorldOptions with_links(const Quadratic& objective, Nanoseconds frame) {
  WorldOptions options = quick_world(3);
  options.compute = 2'000'000;
  const std::uint64_t each = objective.dimension() * sizeof(Number<double>) + 1024 + 8;
  options.protocol.limits.most_waiting_bytes = fit * each;
  options.protocol.limits.most_kept_bytes = 3 * fit * each;
  options.arrival = one_frame_at_a_time(
      [frame](std::size_t, std::size_t bytes) { return bytes > 0 ? frame : 1'000'000; });
  return options;
}

// A frame takes as long as a hundred gradients, so that nearly everything waits.
TEST(Memory, ALinkThatDoesNotKeepUpHoldsABoundedNumberOfGradients) {
  const Quadratic objective = Quadratic::random(7, 4);
  World<double> world(objective, with_links(objective, 200'000'000));
  world.add();
  world.run_for(1'000'000'000);
  world.add();
  world.run_for(60'000'000'000);
  EXPECT_GT(world.worker(0).t(), 2000u);
  EXPECT_LE(world.longest_log(), 3 * fit + 110);  // and what is made between two looks
  world.stop_run(0);
  EXPECT_TRUE(world.run_until_over(120'000'000'000));
  EXPECT_EQ(world.verify(), "");
}

/// f = |x|^2 / 2.
class Bowl final : public Objective<float> {
 public:
  explicit Bowl(std::size_t dimension) : dimension_(dimension) {}
  std::size_t dimension() const override { return dimension_; }
  std::vector<float> start() const override { return std::vector<float>(dimension_, 1); }
  double gradient(std::span<const float> x, Rows, std::span<float> g) const override {
    std::copy(x.begin(), x.end(), g.begin());
    return 0;
  }

 private:
  const std::size_t dimension_;
};

// docs/design.md has the formula. Four members, one of which stands still for half a minute: on
// thin links, which carry a message of one gradient in the time of five.
TEST(Memory, IsBoundedInBytesBesideThinLinksAndAStoppedMember) {
  const Bowl objective(20'000);
  constexpr std::uint64_t update = 4 * 20'000, model = 2 * update, each = update + 1024 + 4 * 4;
  WorldOptions options = quick_world(3);
  options.keeps_all = false;
  options.compute = 20'000'000;
  options.protocol.limits.most_waiting_bytes = fit * each;
  options.protocol.limits.most_kept_bytes = 3 * fit * each;
  options.protocol.limits.most_copied_bytes = 3 * model;
  options.protocol.limits.most_queued_bytes = 1;
  options.arrival = one_frame_at_a_time([](std::size_t, std::size_t bytes) {
    return static_cast<Nanoseconds>(100'000'000.0 * static_cast<double>(bytes) / update);
  });
  World<float> world(objective, options);
  for (int k = 0; k < 4; ++k) world.add();
  world.run_for(5'000'000'000);
  world.freeze(3, 30'000'000'000);
  Kept most;
  for (int look = 0; look < 400; ++look) {
    world.run_for(100'000'000);
    for (std::size_t i = 0; i < 3; ++i) {
      const Kept kept = world.protocol(i).kept();
      most.log = std::max(most.log, kept.log);
      most.copies = std::max(most.copies, kept.copies);
      most.models = std::max(most.models, kept.models);
    }
  }
  EXPECT_GT(world.worker(0).t(), 1000u);
  EXPECT_GT(most.log, 10 * each);
  EXPECT_LE(most.log, 5 * fit * each);
  EXPECT_GT(most.copies, 0u);
  EXPECT_LE(most.copies, 3 * model);
  EXPECT_LE(most.models, 2 * model);
  world.stop_run(0);
  EXPECT_TRUE(world.run_until_over(120'000'000'000));
}

// Once a minute at most, with what it carries and what to do.
TEST(ThinLinks, AreWarnedOf) {
  const Quadratic objective = Quadratic::random(7, 4);
  const auto warnings_of = [&](Nanoseconds frame) {
    WorldOptions options = with_links(objective, frame);
    options.compute = 20'000'000;  // ten between two reports, which is not too many
    World<double> world(objective, options);
    world.add();
    world.run_for(1'000'000'000);
    world.add();
    world.run_for(130'000'000'000);
    std::vector<std::string> warnings;
    for (const std::string& line : world.history())
      if (line.find("w0: the link to w1 does not keep up at ") != line.npos)
        warnings.push_back(line);
    return warnings;
  };
  const auto thin = warnings_of(200'000'000);
  ASSERT_GE(thin.size(), 1u);
  EXPECT_LE(thin.size(), 3u);
  EXPECT_NE(thin[0].find("larger batches (`batch`) or longer gradients (`pace.compute`)"),
            std::string::npos);
  EXPECT_EQ(warnings_of(1'000'000).size(), 0u);
}

}  // namespace
}  // namespace dasgd::elastic::test
