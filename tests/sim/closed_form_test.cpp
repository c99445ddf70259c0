// The sum of |S| in lockstep, to the last integer (THEORY, section 2).
#include <gtest/gtest.h>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/theory/expected_staleness.hpp"
#include "dasgd/topology/builders.hpp"
#include "support/effort.hpp"

namespace dasgd {
namespace {

constexpr Nanoseconds compute = 1'000'000;
constexpr std::uint64_t B = 100;

struct Regime {
  std::string topology;
  RelayMode relay;
  Nanoseconds latency;
};

class ClosedForm : public ::testing::TestWithParam<Regime> {};

void PrintTo(const Regime& r, std::ostream* out) { *out << r.topology << to_string(r.relay); }

INSTANTIATE_TEST_SUITE_P(Sim, ClosedForm,
                         ::testing::Values(Regime{"full", RelayMode::none, 10'000},
                                           Regime{"full", RelayMode::none, 0},
                                           Regime{"ring", RelayMode::arrival, 10'000},
                                           Regime{"ring", RelayMode::arrival, 310'000},
                                           Regime{"ring", RelayMode::apply, 10'000},
                                           Regime{"directed-ring", RelayMode::arrival, 10'000},
                                           Regime{"directed-ring", RelayMode::arrival, 310'000},
                                           Regime{"directed-ring", RelayMode::apply, 10'000},
                                           Regime{"star", RelayMode::arrival, 10'000},
                                           Regime{"star", RelayMode::apply, 10'000},
                                           Regime{"torus", RelayMode::arrival, 310'000},
                                           Regime{"torus", RelayMode::apply, 10'000}),
                         [](const auto& info) {
                           std::string name = info.param.topology + to_string(info.param.relay) +
                                              std::to_string(info.param.latency);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(ClosedForm, SumOfStalenessIsExactForEveryN) {
  const auto [kind, relay, latency] = GetParam();
  const Quadratic q = Quadratic::random(1);
  for (std::size_t n = 2; n <= 25; n += test::sampled_one_in) {
    std::string topology = kind;
    if (kind == "torus") {
      std::size_t rows = 1;
      for (std::size_t r = 2; r * r <= n; ++r)
        if (n % r == 0) rows = r;
      topology = "torus:" + std::to_string(rows) + "x" + std::to_string(n / rows);
    }
    const Graph graph = build_graph(topology, n, 1);
    const auto rounds = [&, relay = relay, latency = latency](std::size_t from, std::size_t to) {
      const std::uint64_t hops = hops_from(graph, worker_id(from))[to];
      if (relay == RelayMode::apply) return hops;
      return (hops * static_cast<std::uint64_t>(latency) + compute - 1) / compute;
    };
    const auto result = simulate(q,
                                 {.workers = n,
                                  .topology = topology,
                                  .relay = relay,
                                  .eta = 1e-4,
                                  .gradients = {static_cast<std::uint32_t>(B)}},
                                 {.compute = TimeModel::constant(compute),
                                  .latency = TimeModel::constant(latency),
                                  .apply = 0});
    const double mean =
        static_cast<double>(theory::sum_of_staleness(n, B, rounds)) / static_cast<double>(n * B);
    EXPECT_DOUBLE_EQ(result.summary.staleness.S_avg, mean) << topology << " n = " << n;
    EXPECT_TRUE(result.summary.audit_is_clean());
  }
}

// Section 4.1 expects S_avg = (n + 1) / 2 and S_max = n on the full graph.
TEST(ClosedForm, ThePapersFiguresAreExactForThreeAndFourWorkers) {
  const auto staleness = [](std::vector<Nanoseconds> start) {
    const TrainOptions options{.workers = start.size(), .eta = 1e-5, .gradients = {2000}};
    VirtualWorld world{
        .compute = TimeModel::constant(1'000'000), .latency = TimeModel::constant(0), .apply = 0};
    world.start = std::move(start);
    return simulate(Quadratic::random(1), options, world).summary.staleness;
  };
  const auto three = staleness({0, 333'333, 666'667});
  EXPECT_NEAR(three.S_avg, 2, 0.001);
  EXPECT_EQ(three.S_max, 3u);
  const auto four = staleness({0, 0, 500'000, 500'000});
  EXPECT_NEAR(four.S_avg, 2.5, 0.001);
  EXPECT_EQ(four.S_max, 4u);
  EXPECT_GT(staleness({0, 200'000, 400'000, 600'000, 800'000}).S_avg, 3.9) << "not 3";
}

}  // namespace
}  // namespace dasgd
