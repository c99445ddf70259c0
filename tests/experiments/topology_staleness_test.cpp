#include "dasgd/lab/experiments/topology_staleness.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dasgd/lab/experiments/burst.hpp"
#include "support/effort.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<TopologyRun> run(TopologyPlan plan) {
  return run_topologies(plan, [](std::size_t, std::size_t) {});
}

TEST(TopologyStaleness, EveryRegimeAgreesWithItsFormulasToTheLastInteger) {
  TopologyPlan plan;  // 2 .. 25 workers, 100 gradients each
  if (test::sampled_one_in > 1) plan.workers = {2, 9, 12};
  const auto runs = run(plan);
  EXPECT_GE(runs.size(), 25u);
  for (const TopologyRun& r : runs)
    EXPECT_TRUE(r.agrees()) << r.regime << " " << r.topology << " n = " << r.workers << ": S_avg "
                            << r.S_avg << " for " << r.exact_S_avg << ", S_max " << r.S_max
                            << " for " << r.exact.S_max;
}

TEST(TopologyStaleness, ManyGradientsComeNearTheLimit) {
  for (const TopologyRun& r : run({.workers = {6}, .gradients = 4000}))
    EXPECT_NEAR(r.S_avg / r.exact.S_avg, 1, 0.002) << r.regime;
}

TEST(TopologyStaleness, KnowsEveryShapeOfATorus) {
  std::vector<std::string> shapes;
  for (const TopologyRun& r : run({.workers = {5, 24}, .gradients = 2}))
    if (r.regime == "torus, relay on application") shapes.push_back(r.topology);
  EXPECT_THAT(shapes, ElementsAre("torus:2x12", "torus:3x8", "torus:4x6"));
}

TEST(TopologyStaleness, WritesCsvJsonAndAPicture) {
  const auto runs = run({.workers = {2, 4}, .gradients = 10});
  const std::string csv = to_csv(runs), svg = to_svg(runs);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(runs.size() + 1));
  const auto json = nlohmann::json::parse(to_json(runs));
  EXPECT_EQ(json[0]["published"]["S_avg"], 1.5);
  EXPECT_FALSE(json.back().contains("published")) << "the paper has no torus";
  EXPECT_THAT(svg, HasSubstr("S_max, rings"));
}

TEST(Burst, BreaksTheInequalityThatTheoremOnePublished) {
  const test::TemporaryDirectory directory;
  const BurstResult burst = run_burst(directory.file("burst.jsonl"));
  EXPECT_THAT(burst.bursts, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(burst.quiet, 68u);
  EXPECT_DOUBLE_EQ(burst.staleness.S_hat_avg, 6.0 / 72);
  EXPECT_EQ(burst.staleness.S_hat_max, 3u);
  EXPECT_DOUBLE_EQ(burst.published_eta, burst.eta) << "exactly at the published limit";
  EXPECT_DOUBLE_EQ(burst.sum_of_squares, 17.0 / 6);
  EXPECT_DOUBLE_EQ(burst.published_bound_1, 2.125) << "with Q = 1";
  EXPECT_GE(burst.published_eta_1, burst.eta);
  EXPECT_DOUBLE_EQ(burst.published_bound, 7.0 / 3);
  EXPECT_LT(burst.certified_eta, burst.eta) << "the certificate refuses it";
}

}  // namespace
}  // namespace dasgd
