// Simulated runs whose members come and go.
#include "dasgd/elastic/world/simulate_members.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd::elastic {
namespace {

using ::testing::HasSubstr;

constexpr Nanoseconds second = 1'000'000'000;

/// Keeps the lines of a trace.
class Lines final : public TraceSink {
 public:
  void add(WorkerId, std::vector<TraceLine> lines, Nanoseconds) override {
    for (const TraceLine& line : lines) all.push_back(line);
  }
  std::size_t sources() const override { return 1; }
  std::exception_ptr failure() const override { return nullptr; }

  std::vector<TraceLine> all;
};

class SimulatedMembers : public ::testing::Test {
 protected:
  MembersResult<double> simulate() {
    options.trace = &lines;
    return simulate_members<double>(problem, options, world, scenario);
  }
  std::string refusal() {
    try {
      validate(scenario, options, world);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  static std::vector<std::string> ends(const MembersResult<double>& result) {
    std::vector<std::string> found;
    for (const MemberOutcome& m : result.members) found.push_back(m.end);
    return found;
  }

  const Quadratic problem = Quadratic::random(10, 3);
  TrainOptions options = {.workers = 4, .eta = 1e-4, .total_gradients = 2'000};
  VirtualWorld world;
  Scenario scenario;
  Lines lines;
};

TEST_F(SimulatedMembers, OneAloneDoesWhatAnOrdinarySimulationDoes) {
  options.workers = 1;
  options.total_gradients = 100;
  const auto members = simulate().result.summary;
  const std::vector<TraceLine> elastic = std::exchange(lines.all, {});
  const auto ordinary = run_simulation<double>(problem, options, world).summary;
  EXPECT_EQ(members.replica_digest, ordinary.replica_digest);
  ASSERT_EQ(elastic.size(), lines.all.size());
  for (std::size_t k = 0; k < elastic.size(); ++k) {
    EXPECT_EQ(elastic[k].time, lines.all[k].time);
    EXPECT_EQ(elastic[k].start, lines.all[k].start);
  }
}

// Look-ahead: the names of gradients show how many are missing, whoever comes, dies or stands
// still.
TEST_F(SimulatedMembers, MissingGradientsAreEstimatedAfterAJoinACrashAndAPause) {
  options.look_ahead = LookAhead{LookAhead::Kind::fixed, 0.5};
  options.total_gradients = 8'000;
  world.compute = TimeModel::lognormal(50'000'000, 0.5);
  world.latency = TimeModel::constant(60'000'000);
  const auto ratio = [&] {
    const RunSummary s = simulate().result.summary;
    return s.look_ahead->missing_estimated / s.look_ahead->missing_true;
  };
  scenario.membership_plan = {.joins = {20 * second, 40 * second}};
  EXPECT_NEAR(ratio(), 1, 0.1) << "joins";
  scenario.membership_plan = {.crashes = {{WorkerId{1}, 30 * second}, {WorkerId{2}, 60 * second}}};
  EXPECT_NEAR(ratio(), 1, 0.1) << "crashes";
  scenario.membership_plan = {};
  world.chaos.pauses.push_back({WorkerId{1}, 20 * second, 15 * second});
  EXPECT_NEAR(ratio(), 1, 0.1) << "a pause";
}

TEST_F(SimulatedMembers, MembersThatComeAndGoAreInTheAudit) {
  scenario.membership_plan = {.crashes = {{WorkerId{0}, 5 * second}, {WorkerId{5}, 16 * second}},
                              .leaves = {{WorkerId{2}, 10 * second}},
                              .joins = {15 * second, 12 * second}};
  const auto run = simulate();
  EXPECT_EQ(ends(run),
            (std::vector<std::string>{"killed", "ended", "left", "ended", "ended", "killed"}));
  EXPECT_EQ(run.members[4].came, 12 * second);
  const RunSummary& s = run.result.summary;
  ASSERT_TRUE(s.elastic);
  EXPECT_EQ(s.elastic->members, 6u);
  EXPECT_EQ(s.elastic->at_end, 3u);
  EXPECT_EQ(s.elastic->left, 1u);
  EXPECT_EQ(s.elastic->lost, 2u);
  EXPECT_EQ(s.elastic->abandoned, 0u);
  EXPECT_EQ(s.elastic->name, "w1");
  EXPECT_TRUE(s.audit_is_clean());
  EXPECT_GE(s.gradients, 2'000u);
  EXPECT_EQ(s.stop_reason, StopReason::budget);
  // What the survivors hold and what their members made, less what nobody had heard of.
  std::uint64_t made = 0, lost = 0;
  for (const MemberOutcome& m : run.members) made += m.gradients;
  for (const auto& [who, count] : s.elastic->lost_gradients) lost += count;
  EXPECT_GE(made, s.gradients + lost);
  EXPECT_LE(made, s.gradients + lost + 2 * 16);
  EXPECT_GT(run.members[4].joined_at_step, 500u);
}

TEST_F(SimulatedMembers, TheSameScenarioIsTheSameToTheLastLine) {
  scenario.membership_plan = {
      .crashes = {{WorkerId{1}, 3 * second}}, .leaves = {}, .joins = {2 * second}};
  world.latency = TimeModel::uniform(1'000'000, 9'000'000);
  world.compute = TimeModel::lognormal(30'000'000, 0.5);
  world.bandwidth = 1e6;
  const auto first = simulate();
  const std::vector<TraceLine> before = std::exchange(lines.all, {});
  const auto again = simulate();
  EXPECT_EQ(first.result.summary.replica_digest, again.result.summary.replica_digest);
  EXPECT_EQ(first.result.summary.elastic->set_hash, again.result.summary.elastic->set_hash);
  EXPECT_EQ(first.adoptions, again.adoptions);
  EXPECT_EQ(first.history, again.history);
  ASSERT_EQ(before.size(), lines.all.size());
  for (std::size_t k = 0; k < before.size(); ++k) {
    EXPECT_EQ(before[k].time, lines.all[k].time);
    EXPECT_TRUE(before[k].name == lines.all[k].name);
    EXPECT_EQ(before[k].S, lines.all[k].S);
  }
}

// One side is cut off for longer than members wait for each other, so that both go on by
// themselves; when it heals, all end with what both did.
TEST_F(SimulatedMembers, ALongCutHeals) {
  world.chaos.partitions = {
      {{WorkerId{0}, WorkerId{1}}, {WorkerId{2}, WorkerId{3}}, 2 * second, 60 * second}};
  options.total_gradients = 10'000;
  const auto run = simulate();
  const RunSummary& s = run.result.summary;
  EXPECT_TRUE(s.audit_is_clean());
  EXPECT_EQ(s.elastic->at_end, 4u);
  EXPECT_EQ(s.elastic->abandoned, 0u);
  EXPECT_THAT(run.adoptions, HasSubstr("\"worker\":"));
  for (const char* line :
       {"w2 is silent", "lost contact with half", "continuing without", "came back"})
    EXPECT_THAT(::testing::PrintToString(run.history), HasSubstr(line));
}

TEST_F(SimulatedMembers, ARunThatEndsInACutEndsApart) {
  world.chaos.partitions = {{{WorkerId{0}, WorkerId{1}}, {WorkerId{2}}, second, 900 * second}};
  options.workers = 3;
  options.total_gradients = 4'000;
  const RunSummary s = simulate().result.summary;
  EXPECT_FALSE(s.replicas_identical);
  EXPECT_FALSE(s.audit_is_clean());
}

TEST_F(SimulatedMembers, WhatComesAfterTheEndIsReported) {
  scenario.membership_plan.crashes = {{WorkerId{1}, 900 * second}};
  const auto run = simulate();
  EXPECT_EQ(run.too_late, std::vector<std::string>{"`elastic.crash` 1:15min"});
  EXPECT_EQ(run.result.summary.elastic->at_end, 4u);
}

TEST(MembershipPlan, KnowsHowManyAreThereAtOnce) {
  EXPECT_EQ(most_at_once({}, 3, {}), 3u);
  MembershipPlan membership_plan{.crashes = {{WorkerId{0}, 2 * second}},
                                 .leaves = {{WorkerId{1}, 2 * second}},
                                 .joins = {second, 3 * second, 4 * second}};
  EXPECT_EQ(most_at_once(membership_plan, 3, {}), 4u);
  EXPECT_EQ(most_at_once(membership_plan, 3, {0, 0, 9 * second}), 4u);
}

TEST_F(SimulatedMembers, AnImpossibleScenarioIsRefused) {
  const auto crash = [&](std::size_t worker, Nanoseconds at) {
    scenario.membership_plan.crashes = {{worker_id(worker), at}};
    return refusal();
  };
  EXPECT_THAT(crash(4, second), HasSubstr("there is no worker 4: the run has 0 to 3"));
  EXPECT_THAT(crash(1, 0), HasSubstr("worker 1 joins at 0s; it can leave only later"));
  EXPECT_EQ(crash(1, second), "");
  scenario.membership_plan.joins = {5 * second};
  EXPECT_THAT(crash(4, 4 * second), HasSubstr("worker 4 joins at 5s"));
  EXPECT_EQ(crash(4, 6 * second), "");
  scenario.membership_plan.leaves = {{WorkerId{4}, 7 * second}};
  EXPECT_THAT(refusal(), HasSubstr("it has left by then"));
  scenario = {};
  for (std::size_t w = 0; w < 4; ++w)
    scenario.membership_plan.crashes.push_back({worker_id(w), second});
  EXPECT_THAT(refusal(), HasSubstr("`elastic.crash` 3:1s: no member with a model would be left"));
  scenario = {};
  options.topology = "ring";
  EXPECT_THAT(refusal(), HasSubstr("`topology.kind` is full"));
  options.topology = "full";
  world.chaos.reorder = 0.1;
  EXPECT_THAT(refusal(), HasSubstr("links that keep their order"));
}

}  // namespace
}  // namespace dasgd::elastic
