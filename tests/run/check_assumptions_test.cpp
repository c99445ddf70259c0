#include "dasgd/run/check_assumptions.hpp"

#include <gtest/gtest.h>

#include "dasgd/problems/logistic.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"

namespace dasgd {
namespace {

class CheckAssumptions : public ::testing::Test {
 protected:
  CheckedAssumption check(const std::string& name, std::optional<double> at_most = {}) {
    options.assumptions = {{name, at_most}};
    return check_assumptions<double>(f, options, summary, f.start()).front();
  }
  const Logistic f = Logistic::random(1);
  TrainOptions options{.batch = 10, .sampling = Sampling::independent};
  RunSummary summary;
};

TEST_F(CheckAssumptions, HoldsStalenessAndDeliveryAgainstTheRun) {
  summary.staleness.W = 24;
  summary.staleness.S_avg = 2.5;
  summary.staleness.S_max = 7;
  EXPECT_EQ(check("W", 24).held, true);
  EXPECT_EQ(check("W", 23).held, false);
  EXPECT_EQ(check("S_avg", 2.4).held, false);
  EXPECT_EQ(check("S_max", 7).held, true);
  EXPECT_EQ(check("causal").held, true);
  summary.noncausal_applications = 1;
  EXPECT_EQ(check("causal").held, false);
  summary.staleness.W.reset();
  EXPECT_EQ(check("W", 24).held, std::nullopt) << "nobody counted";
}

TEST_F(CheckAssumptions, HoldsTheNoiseAndTheStepAgainstTheRun) {
  const CheckedAssumption sigma2 = check("sigma2", 1e9);
  EXPECT_EQ(sigma2.held, true);
  EXPECT_GT(*sigma2.found, 0);
  EXPECT_EQ(check("sigma2", *sigma2.found / 10).held, false);
  EXPECT_EQ(check("sigma2", *sigma2.found).held, true);
  EXPECT_EQ(check("r0", 1).held, true) << "log 2";
  EXPECT_EQ(check("r0", 0.5).held, false);
  EXPECT_EQ(check("draws").held, true);
  options.sampling = Sampling::own;
  EXPECT_EQ(check("draws").held, false);
  EXPECT_EQ(check("step").held, true);
  summary.fixed_step = false;
  EXPECT_EQ(check("step").held, false);
  EXPECT_EQ(check("L", 4).held, std::nullopt);
}

TEST_F(CheckAssumptions, ForgivesRoundingAndNoMore) {
  const double r0 = *check("r0", 1).found;
  EXPECT_EQ(check("r0", r0 * (1 - 1e-12)).held, true);
  EXPECT_EQ(check("r0", r0 * (1 - 1e-6)).held, false);
  summary.staleness.W = 1'000'000;
  EXPECT_EQ(check("W", 999'999).held, false);
}

TEST_F(CheckAssumptions, OnlyVirtualTimeShowsThatNoTimingDependsOnTheNoise) {
  EXPECT_EQ(check("timing").held, std::nullopt);
  summary.virtual_seconds = 1;
  EXPECT_EQ(check("timing").held, true);
}

TEST_F(CheckAssumptions, ARunThatItsNoiseEndedDependsOnIt) {
  using enum StopReason;
  summary.virtual_seconds = 1;
  for (const StopReason end : {target, target_accuracy, target_eval_loss, patience, diverged}) {
    summary.stop_reason = end;
    EXPECT_EQ(check("timing").held, false) << to_string(end);
  }
  for (const StopReason end : {interrupted, callback, asked}) {
    summary.stop_reason = end;
    EXPECT_EQ(check("timing").held, std::nullopt) << to_string(end);
  }
  summary.stop_reason = max_time;
  EXPECT_EQ(check("timing").held, true);
}

TEST_F(CheckAssumptions, WithoutNoiseARunIsDrainedOrCausal) {
  summary.replicas_identical = true;
  summary.noncausal_applications = 1;
  EXPECT_EQ(check("drained").held, true);
  summary.lost = 1;
  EXPECT_EQ(check("drained").held, false);
  summary.noncausal_applications = 0;
  EXPECT_EQ(check("drained").held, true);
}

TEST_F(CheckAssumptions, AfterAResumeEarlierLegsAreUnknown) {
  const Checkpoint earlier;
  summary.staleness.W = 1;
  options.resume = &earlier;
  EXPECT_EQ(check("W", 24).held, std::nullopt);
  EXPECT_EQ(check("step").held, std::nullopt);
  summary.fixed_step = false;
  EXPECT_EQ(check("step").held, false);
}

TEST_F(CheckAssumptions, WorkersAreFixedUnlessOneLeft) {
  summary.elastic.emplace();
  EXPECT_EQ(check("workers").held, std::nullopt) << "some may have joined";
  summary.elastic->left = 1;
  EXPECT_EQ(check("workers").held, false);
}

}  // namespace
}  // namespace dasgd
