// Cards and links that are too thin for what is computed: messages become fuller, not later.
#include <gtest/gtest.h>

#include "dasgd/sim/simulate.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd {
namespace {

/// f = |x|^2 / 2, as large as a small network.
class LargeBowl final : public Objective<float> {
 public:
  std::size_t dimension() const override { return 8192; }
  std::vector<float> start() const override { return std::vector<float>(dimension(), 1); }
  double gradient(std::span<const float> x, Rows, std::span<float> g) const override {
    std::copy(x.begin(), x.end(), g.begin());
    return 0;
  }
};

enum class Thin { card, link };

struct Way {
  std::string topology;
  Thin thin = Thin::card;
};

/// A card that takes as long for a message as a worker for `gradients` gradients.
RunSummary run(const Way& way, double gradients, std::uint32_t each, std::size_t workers = 16) {
  const LargeBowl problem;
  TrainOptions options{.workers = workers, .topology = way.topology, .eta = 1e-4};
  options.gradients = {each};
  VirtualWorld world;
  world.compute = TimeModel::constant(50'000'000);
  const double rate = 4 * 8192 / (0.05 * gradients);
  (way.thin == Thin::card ? world.nic : world.bandwidth) = rate;
  return simulate(problem, options, world).summary;
}

class ThinLinks : public ::testing::TestWithParam<Way> {};

TEST_P(ThinLinks, LoseNothingAndEndWithEqualReplicas) {
  for (const double gradients : {0.01, 1.0, 30.0}) {
    const RunSummary summary = run(GetParam(), gradients, 50);
    EXPECT_EQ(summary.gradients, 800u);
    EXPECT_EQ(summary.lost, 0u);
    EXPECT_EQ(summary.duplicated, 0u);
    EXPECT_TRUE(summary.replicas_identical);
  }
}

// What waits is one message, however long the run is.
TEST_P(ThinLinks, AreNotFurtherBehindInALongerRun) {
  const double shorter = run(GetParam(), 2, 300).staleness.S_avg;
  EXPECT_LT(run(GetParam(), 2, 900).staleness.S_avg, 1.25 * shorter);
}

TEST_P(ThinLinks, CostNoGradients) {
  const RunSummary thin = run(GetParam(), 2, 300);
  const RunSummary wide = run(GetParam(), 0.01, 300);
  EXPECT_EQ(thin.gradients, wide.gradients);
  // What is under way at the end takes a few rounds of the card.
  EXPECT_LT(*thin.virtual_seconds, *wide.virtual_seconds + 100 * 0.1);
}

INSTANTIATE_TEST_SUITE_P(Ways, ThinLinks,
                         ::testing::Values(Way{"full"}, Way{"tree:4"}, Way{"tree:2"}, Way{"star"},
                                           Way{"full", Thin::link}, Way{"tree:4", Thin::link}),
                         [](const auto& info) {
                           std::string name = info.param.topology;
                           std::erase(name, ':');
                           return name + (info.param.thin == Thin::card ? "_card" : "_link");
                         });

TEST(ThinTrees, AreWhatTheRelayAsksFor) {
  const LargeBowl problem;
  VirtualWorld world;
  world.nic = 4 * 8192 / 0.05;
  TrainOptions options{.workers = 16, .eta = 1e-4};
  options.gradients = {100};
  const auto with_relay = [&](const char* relay) {
    TrainOptions asked = options;
    asked.relay = parse_relay(relay);
    return simulate(problem, asked, world).summary;
  };
  TrainOptions given = options;
  given.topology = "tree:4";
  const RunSummary tree = simulate(problem, given, world).summary;
  EXPECT_EQ(with_relay("tree").staleness.S_avg, tree.staleness.S_avg);
  EXPECT_EQ(with_relay("auto").staleness.S_avg, tree.staleness.S_avg);
  EXPECT_EQ(with_relay("auto").relay, "tree:4");
  EXPECT_NE(with_relay("auto").links_why, "");
  EXPECT_EQ(with_relay("mesh").staleness.S_avg,
            simulate(problem, options, world).summary.staleness.S_avg);
}

TEST(ThinTrees, AreCausal) {
  const RunSummary summary = run({"tree:4"}, 5, 200);
  EXPECT_EQ(summary.noncausal_applications, 0u);
}

TEST(ThinTrees, AreFresherThanAMesh) {
  EXPECT_LT(run({"tree:4"}, 1, 300).staleness.S_avg, run({"full"}, 1, 300).staleness.S_avg);
}

// Each worker sends to each neighbour once per round of its card, whatever was made meanwhile.
TEST(ThinMeshes, SendAsManyMessagesAsTheCardTakes) {
  const RunSummary summary = run({"full"}, 1, 300);
  for (const std::uint64_t messages : summary.messages_sent) EXPECT_LT(messages, 300 * 1.2);
}

}  // namespace
}  // namespace dasgd
