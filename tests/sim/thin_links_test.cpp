// Cards and links that are too thin for what is computed: messages become fuller, not later.
#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/topology/builders.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

/// f = |x|^2 / 2, as large as a small network.
class LargeBowl final : public Objective<float> {
 public:
  explicit LargeBowl(std::size_t dimension = 8192) : dimension_(dimension) {}
  std::size_t dimension() const override { return dimension_; }
  std::vector<float> start() const override { return std::vector<float>(dimension(), 1); }
  double gradient(std::span<const float> x, Rows, std::span<float> g) const override {
    std::copy(x.begin(), x.end(), g.begin());
    return 0;
  }

 private:
  const std::size_t dimension_;
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

// Both look at each single model, so that nothing may be folded.
TEST_P(ThinLinks, SendGradientsOneByOneWhereEachModelIsLookedAt) {
  const Quadratic problem = Quadratic::random(1);
  for (const bool measures : {true, false}) {
    TrainOptions options{.workers = 8, .topology = GetParam().topology, .eta = 1e-4};
    options.gradients = {20};
    options.measure_gradients = measures;
    if (!measures) options.target_error = 1e-9;
    VirtualWorld world{.compute = TimeModel::constant(50'000'000)};
    (GetParam().thin == Thin::card ? world.nic : world.bandwidth) = 1000;
    const RunSummary summary = simulate(problem, options, world).summary;
    EXPECT_EQ(summary.folded, 0u);
    EXPECT_EQ(summary.lost, 0u);
    EXPECT_EQ(summary.residuals.has_value(), measures);
  }
}

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

struct Recorded {
  std::vector<std::string> lines;  ///< of the trace, without an order among those of one instant
  std::string digest;
};

Recorded recorded(const char* topology, Nanoseconds latency) {
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), 1);
  TrainOptions options{.workers = 9, .topology = topology, .eta = 0.01};
  options.gradients = {30};
  options.trace = &writer;
  const VirtualWorld world{.compute = TimeModel::exponential(1'000'000),
                           .latency = TimeModel::constant(latency),
                           .apply = 0};
  const auto summary = simulate(Quadratic::random(1), options, world).summary;
  writer.finish();
  Recorded all{{}, summary.replica_digest};
  std::istringstream lines(test::read_text(directory.file("t")));
  for (std::string line; std::getline(lines, line);) all.lines.push_back(line);
  std::ranges::sort(all.lines);
  return all;
}

// A way over relays is longer where a link takes time.
TEST(ThinTrees, WithoutLimitsAndLatencyAreTheFullGraphToTheBit) {
  const Recorded full = recorded("full", 0);
  EXPECT_EQ(full.lines.size(), 9u * 9 * 30);
  for (const char* tree : {"tree:4", "tree:2", "tree:1", "star"}) {
    const Recorded one = recorded(tree, 0);
    EXPECT_EQ(one.lines, full.lines) << tree;
    EXPECT_EQ(one.digest, full.digest) << tree;
  }
  EXPECT_NE(recorded("tree:2", 1000).lines, recorded("full", 1000).lines);
}

TEST(ThinTrees, AreCausal) {
  const RunSummary summary = run({"tree:4"}, 5, 200);
  EXPECT_EQ(summary.noncausal_applications, 0u);
}

// docs/design.md: what a worker keeps, however thin its card is and however long the run.
TEST_P(ThinLinks, KeepABoundedNumberOfBytes) {
  constexpr std::size_t d = 500'000, workers = 6;
  const LargeBowl problem(d);
  TrainOptions options{.workers = workers, .topology = GetParam().topology, .eta = 1e-4};
  options.gradients = {12};
  VirtualWorld world;
  world.compute = TimeModel::constant(50'000'000);
  (GetParam().thin == Thin::card ? world.nic : world.bandwidth) = 4 * d / (0.05 * 10);
  const Graph graph = build_graph(options.topology, workers, 1);
  std::vector<std::uint64_t> most(workers, 0);
  const Observer<float> observer{10'000'000, [&](const Instant<float>& instant) {
                                   for (std::size_t i = 0; i < workers; ++i)
                                     most[i] = std::max(most[i], instant.nodes[i].kept);
                                   return false;
                                 }};
  run_simulation<float>(problem, options, world, &observer);
  for (std::size_t i = 0; i < workers; ++i) {
    const std::uint64_t ports = graph.neighbours(worker_id(i)).size();
    EXPECT_LE(most[i], 16 * d + ports * (2 * 8 * d + 7 * 4 * d)) << i;
    EXPECT_GT(most[i], 16 * d + 4 * d) << i;
  }
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
