#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numbers>

#include "dasgd/core/error.hpp"
#include "dasgd/dasgd.hpp"
#include "dasgd/rules/rule.hpp"
#include "support/message.hpp"

namespace dasgd {
namespace {

using Kind = RuleOptions::Kind;
using ::testing::HasSubstr;

Schedule schedule(const std::string& text, double warmup = 0) {
  Schedule s;
  s.warmup = warmup;
  set_schedule(s, text);
  return s;
}

TEST(ScheduleTest, IsConstantByDefault) {
  for (const double clock : {0.0, 1.0, 1e9}) EXPECT_EQ(Schedule{}.factor(clock), 1);
}

TEST(ScheduleTest, StepsMultiplyEachTime) {
  const Schedule s = schedule("step:100:0.5");
  EXPECT_EQ(s.factor(99.9), 1);
  EXPECT_EQ(s.factor(100), 0.5);
  EXPECT_EQ(s.factor(399), 0.125);
}

TEST(ScheduleTest, TheCosineFallsFromOneToItsFloorAndStaysThere) {
  const Schedule s = schedule("cosine:1000:0.1");
  EXPECT_EQ(s.factor(0), 1);
  EXPECT_NEAR(s.factor(500), 0.55, 1e-12);
  EXPECT_NEAR(s.factor(250), 0.1 + 0.9 * 0.5 * (1 + std::numbers::sqrt2 / 2), 1e-12);
  EXPECT_NEAR(s.factor(1000), 0.1, 1e-12);
  EXPECT_NEAR(s.factor(5000), 0.1, 1e-12);
}

TEST(ScheduleTest, CoolingDownFallsToZeroInTheLastShareOfTheRun) {
  const Schedule half = schedule("cooldown:1000:0.5"), fifth = schedule("cooldown:1000:0.2");
  for (const double clock : {0.0, 499.0}) EXPECT_EQ(half.factor(clock), 1);
  EXPECT_DOUBLE_EQ(half.factor(750), 0.5);
  EXPECT_EQ(half.factor(1000), 0);
  EXPECT_EQ(half.factor(5000), 0);
  EXPECT_EQ(fifth.factor(799), 1);
  EXPECT_NEAR(fifth.factor(950), 0.25, 1e-12);
  EXPECT_DOUBLE_EQ(schedule("cooldown:1000").factor(850), 0.5);
  EXPECT_EQ(schedule("cooldown").factor(1e9), 1) << "no end is known";
}

TEST(ScheduleTest, TheWarmUpMultipliesWhateverFollows) {
  EXPECT_DOUBLE_EQ(schedule("constant", 10).factor(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule("constant", 10).factor(4), 0.5);
  EXPECT_DOUBLE_EQ(schedule("constant", 10).factor(20), 1);
  EXPECT_DOUBLE_EQ(schedule("step:5:0.5", 10).factor(5), 0.6 * 0.5);
}

TEST(ScheduleTest, TextsReadBackAndBadOnesAreRefused) {
  for (const char* text : {"constant", "step:100:0.5", "step:0.25:1", "cosine", "cosine:5000",
                           "cosine:5000:0.01", "cooldown", "cooldown:5000", "cooldown:5000:0.2"})
    EXPECT_EQ(to_string(schedule(text)), text);
  for (const char* text : {"step", "step:0:0.5", "step:10:0", "step:10:2", "step:a:b", "cosine:0",
                           "cosine:-1", "cosine:10:2", "cosine:1:1:1", "constant:1", "cosine:nan",
                           "cooldown:0", "cooldown:10:0", "cooldown:10:2", "cooldown:1:1:1", ""})
    EXPECT_THROW(schedule(text), InputError) << text;
  EXPECT_THAT(test::message_of<InputError>([] { schedule("cosin:5"); }), HasSubstr("cosine"));
}

/// Feeds a fixed sequence of gradients to a rule at a fixed x and returns eta * direction of each.
class RuleTest : public ::testing::Test {
 protected:
  std::vector<double> steps(UpdateRule<double>& rule, int count, int from = 0) {
    std::vector<double> result;
    for (int k = from; k < from + count; ++k) {
      std::vector<double> g{gradient(k)};
      const double eta = rule.prepare(static_cast<std::uint64_t>(k), x, g);
      result.push_back(eta * g[0]);
    }
    return result;
  }
  static double gradient(int k) { return 1.0 + 0.5 * k; }
  HostReplica<double> x{std::vector<double>{3.0}};
};

TEST_F(RuleTest, SgdIsThePapersRule) {
  StagedRule<double> rule({}, 0.1, {});
  FixedStep<double> fixed(0.1);
  EXPECT_EQ(steps(rule, 5), steps(fixed, 5));
}

TEST_F(RuleTest, MomentumIsAGeometricSumOfTheOriginsOwnGradients) {
  StagedRule<double> rule({.kind = Kind::momentum, .momentum = 0.5}, 0.1, {});
  const auto found = steps(rule, 6);
  for (int k = 0; k < 6; ++k) {
    double sum = 0;
    for (int m = 0; m <= k; ++m) sum += std::pow(0.5, k - m) * gradient(m);
    EXPECT_NEAR(found[static_cast<std::size_t>(k)], 0.1 * sum, 1e-14);
  }
}

TEST_F(RuleTest, NesterovLooksOneStepAhead) {
  StagedRule<double> rule({.kind = Kind::nesterov, .momentum = 0.5}, 1, {});
  const auto found = steps(rule, 3);
  EXPECT_NEAR(found[0], 1 + 0.5 * 1, 1e-14);
  EXPECT_NEAR(found[1], 1.5 + 0.5 * (0.5 * 1 + 1.5), 1e-14);
  EXPECT_NEAR(found[2], 2 + 0.5 * (0.25 * 1 + 0.5 * 1.5 + 2), 1e-14);
}

TEST_F(RuleTest, AdamAgreesWithItsDefinition) {
  StagedRule<double> rule({.kind = Kind::adam, .beta1 = 0.8, .beta2 = 0.9}, 0.01, {});
  const auto found = steps(rule, 8);
  double m = 0, v = 0;
  for (int k = 0; k < 8; ++k) {
    m = 0.8 * m + 0.2 * gradient(k);
    v = 0.9 * v + 0.1 * gradient(k) * gradient(k);
    const double mean = m / (1 - std::pow(0.8, k + 1)), square = v / (1 - std::pow(0.9, k + 1));
    EXPECT_NEAR(found[static_cast<std::size_t>(k)], 0.01 * mean / (std::sqrt(square) + 1e-8),
                1e-13);
  }
  EXPECT_NEAR(found[0], 0.01, 1e-9) << "the first step of Adam has the length of eta";
}

TEST_F(RuleTest, WeightDecayIsL2BeforeMomentumAndDecoupledWithAdam) {
  StagedRule<double> sgd({.weight_decay = 0.1}, 1, {});
  EXPECT_NEAR(steps(sgd, 1)[0], 1 + 0.1 * 3, 1e-14);
  StagedRule<double> momentum({.kind = Kind::momentum, .momentum = 0.5, .weight_decay = 0.1}, 1,
                              {});
  EXPECT_NEAR(steps(momentum, 2)[1], 0.5 * 1.3 + 1.8, 1e-14);
  StagedRule<double> adam({.kind = Kind::adam, .weight_decay = 0.1}, 1, {});
  EXPECT_NEAR(steps(adam, 1)[0], 1 + 0.3, 1e-7);
}

TEST_F(RuleTest, ClippingScalesTheNormAndComesBeforeDecay) {
  StagedRule<double> rule({.weight_decay = 0.1, .clip = 1}, 1, {});
  HostReplica<double> at(std::vector<double>{10, 0}), zero(std::vector<double>{0, 0});
  std::vector<double> g{3, 4};
  rule.prepare(0, at, g);
  EXPECT_NEAR(g[0], 0.6 + 1, 1e-14);
  EXPECT_NEAR(g[1], 0.8, 1e-14);
  std::vector<double> small{0.3, 0.4};
  rule.prepare(0, zero, small);
  EXPECT_EQ(small, (std::vector<double>{0.3, 0.4}));
}

TEST_F(RuleTest, ClippingDoesNotHideAGradientThatIsNotFinite) {
  StagedRule<double> rule({.clip = 1}, 1, {});
  std::vector<double> g{std::nan(""), 1};
  rule.prepare(0, x, g);
  EXPECT_TRUE(std::isnan(g[0]));
}

TEST_F(RuleTest, TheClockCountsWhatAllHaveDoneAndGoesOnAfterAResume) {
  const RuleOptions options{.schedule = schedule("step:40:0.5")};
  StagedRule<double> rule(options, 1, {.before = 20});
  std::vector<double> g{1};
  EXPECT_EQ(rule.prepare(19, x, g), 1);
  EXPECT_EQ(rule.prepare(20, x, g), 0.5);
}

TEST_F(RuleTest, ACosineWithoutAnEndTakesTheBudget) {
  StagedRule<double> rule({.schedule = schedule("cosine")}, 1, {.planned = 200});
  std::vector<double> g{1};
  EXPECT_NEAR(rule.prepare(100, x, g), 0.5, 1e-12);
  EXPECT_NEAR(rule.prepare(200, x, g), 0, 1e-12);
}

class EveryRule : public RuleTest, public ::testing::WithParamInterface<Kind> {};
INSTANTIATE_TEST_SUITE_P(Rules, EveryRule,
                         ::testing::Values(Kind::sgd, Kind::momentum, Kind::nesterov, Kind::adam),
                         [](const auto& info) { return to_string(info.param); });

TEST_P(EveryRule, GoesOnFromItsSavedStateAsIfNothingHadHappened) {
  const RuleOptions options{.kind = GetParam(), .weight_decay = 0.01, .clip = 2};
  StagedRule<double> through(options, 0.1, {}), first(options, 0.1, {}), second(options, 0.1, {});
  auto expected = steps(through, 10);
  auto found = steps(first, 4);
  ASSERT_TRUE(second.restore(first.state()));
  const auto rest = steps(second, 6, 4);
  found.insert(found.end(), rest.begin(), rest.end());
  EXPECT_EQ(found, expected);
}

TEST_P(EveryRule, RefusesTheStateOfAnotherRuleAndTruncatedOnes) {
  StagedRule<double> rule({.kind = GetParam()}, 0.1, {});
  steps(rule, 3);
  for (const Kind other : {Kind::sgd, Kind::momentum, Kind::nesterov, Kind::adam}) {
    StagedRule<double> another({.kind = other}, 0.1, {});
    EXPECT_EQ(another.restore(rule.state()), other == GetParam());
  }
  const Bytes whole = rule.state();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    StagedRule<double> same({.kind = GetParam()}, 0.1, {});
    EXPECT_FALSE(same.restore(std::span(whole).first(length)));
  }
}

TEST_P(EveryRule, LeavesReplicasIdentical) {
  for (const char* topology : {"full", "ring"}) {
    const auto result = train(Quadratic::random(1), {.workers = 4,
                                                     .topology = topology,
                                                     .eta = 0.001,
                                                     .rule = {.kind = GetParam(),
                                                              .weight_decay = 1e-3,
                                                              .clip = 10,
                                                              .schedule = schedule("cosine", 20)},
                                                     .gradients = {200}});
    EXPECT_TRUE(result.summary.audit_is_clean());
  }
}

TEST_P(EveryRule, OneWorkerOnThreadsAndInVirtualTimeIsTheSameToTheBit) {
  const TrainOptions options{.workers = 1,
                             .eta = 0.002,
                             .rule = {.kind = GetParam(),
                                      .weight_decay = 1e-3,
                                      .clip = 5,
                                      .schedule = schedule("step:50:0.7", 10)},
                             .gradients = {300}};
  const Quadratic problem = Quadratic::random(1);
  EXPECT_EQ(train(problem, options).summary.replica_digest,
            simulate(problem, options).summary.replica_digest);
}

TEST_P(EveryRule, ReachesTheOptimumInVirtualTime) {
  const auto result =
      simulate(Quadratic::random(1), {.workers = 4,
                                      .eta = GetParam() == Kind::adam ? 0.02 : 0.005,
                                      .rule = {.kind = GetParam(), .schedule = schedule("cosine")},
                                      .gradients = {2000}});
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_LT(result.summary.loss, 1e-6);
}

TEST(RuleOptionsTest, RefusesWhatCannotBe) {
  EXPECT_THROW(validate(RuleOptions{.kind = Kind::momentum, .momentum = 1}), InputError);
  EXPECT_THROW(validate(RuleOptions{.kind = Kind::adam, .beta2 = 1.5}), InputError);
  EXPECT_THROW(validate(RuleOptions{.momentum = 0.9}), InputError);
  EXPECT_THROW(validate(RuleOptions{.kind = Kind::nesterov, .beta1 = 0.9}), InputError);
  EXPECT_THROW(validate(RuleOptions{.weight_decay = -1}), InputError);
  EXPECT_THROW(validate(RuleOptions{.clip = 0}), InputError);
  EXPECT_THROW(parse_rule("adamm"), InputError);
  EXPECT_THROW(train(Quadratic::random(1), {.rule = {.schedule = schedule("cosine")},
                                            .max_time = std::chrono::seconds(1)}),
               InputError);
}

}  // namespace
}  // namespace dasgd
