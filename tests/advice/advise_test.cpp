#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dasgd/advice/advice_json.hpp"
#include "dasgd/dasgd.hpp"
#include "dasgd/lab/experiments/parabola.hpp"
#include "dasgd/theory/step_size.hpp"
#include "support/effort.hpp"
#include "support/huber.hpp"
#include "support/unknown.hpp"

namespace dasgd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Advise, SaysTheStatusOfEveryLimit) {
  const Quadratic q = Quadratic::random(1);
  const Advice advice = advise<double>(
      q,
      {.options = {.workers = 8, .topology = "ring", .gradients = {100}}, .world = VirtualWorld{}});
  const auto json = nlohmann::json::parse(to_json(advice));
  for (const char* name : {"L", "sigma2", "Q", "r0"}) {
    EXPECT_TRUE(json["constants"][name]["value"].is_number()) << name;
    EXPECT_EQ(json["constants"][name]["interval"].size(), 2u);
    EXPECT_FALSE(json["constants"][name]["how"].get<std::string>().empty());
  }
  std::map<std::string, std::string> status;
  for (const auto& limit : json["limits"]) status[limit["name"]] = limit["status"];
  EXPECT_EQ(status["certificate"], "proved");
  EXPECT_EQ(status["a_priori"], "proved");
  EXPECT_EQ(status["published_1"], "published but false in general");
  EXPECT_EQ(status["published_2"], "published but false in general");
  EXPECT_EQ(status["heuristic"], "heuristic");
  EXPECT_GT(json["recommended_eta"], 0);
  EXPECT_LT(json["recommended_eta"], 0.25);
  EXPECT_EQ(json["promises"].size(), 2u);
  EXPECT_EQ(json["horizon"], 800);
}

TEST(Advise, AdvisedTrainingConvergesAndEightTimesTheCertifiedStepDoesNot) {
  // Lockstep on the full graph: all eight compute at the same stale point.
  const Quadratic q = Quadratic::random(1);
  TrainOptions options{.workers = 8, .gradients = {400}};
  const Advice advice = advise<double>(q, {.options = options, .world = VirtualWorld{}});
  options.eta = advice.recommended_eta;
  options.smoothness = advice.constants.L.value;
  options.measure_gradients = true;
  const auto good = run_simulation<double>(q, options, {});
  EXPECT_EQ(good.failure, nullptr);
  EXPECT_LT(good.summary.loss, 1e-6 * q.loss(q.start()));
  ASSERT_TRUE(good.summary.step);
  EXPECT_EQ(good.summary.step->certified, true);
  EXPECT_LE(good.summary.step->certificate->ratio(), 1);

  options.eta = 8 * theory::certified_eta(advice.constants.L.value, *good.summary.staleness.W);
  const auto bad = run_simulation<double>(q, options, {});
  EXPECT_EQ(bad.summary.stop_reason, StopReason::diverged);
  EXPECT_NE(bad.failure, nullptr);
  EXPECT_EQ(bad.summary.step->certified, false);
  EXPECT_TRUE(bad.summary.model_is_last_good);
  EXPECT_LE(bad.summary.loss, q.loss(q.start()) * 10);
}

TEST(Advise, WorksOnAPilotOfThisMachineAndForAnUnknownObjective) {
  const Logistic problem = Logistic::random(1);
  const Advice advice =
      advise<double>(test::Unknown(problem), {.options = {.workers = 2, .batch = 10}});
  EXPECT_THAT(advice.staleness.how, HasSubstr("measured"));
  EXPECT_THAT(advice.grounds, HasSubstr("estimate"));
  EXPECT_GT(advice.recommended_eta, 0);
  EXPECT_GT(advice.constants.sigma2.value, 0);
}

TEST(Advise, AStepForAnEstimatedLIsProvedOnlyIfTheEstimateHolds) {
  const Logistic problem = Logistic::random(1);
  const Advice advice = advise<double>(test::Unknown(problem),
                                       {.options = {.workers = 2, .batch = 0, .gradients = {50}},
                                        .world = VirtualWorld{},
                                        .try_steps = false});
  EXPECT_EQ(advice.recommended_status, "proved if L is as estimated");
  EXPECT_THAT(advice.grounds, HasSubstr("proved if L is as estimated, by the certificate"));
  for (const StepSizeLimit& limit : advice.limits) EXPECT_NE(limit.status, "proved") << limit.name;
}

std::map<std::string, nlohmann::json> limits_by_name(const Advice& advice) {
  const auto json = nlohmann::json::parse(to_json(advice));
  std::map<std::string, nlohmann::json> limits;
  for (const auto& limit : json["limits"]) limits[limit["name"]] = limit;
  return limits;
}

Advice advise_with_noise(TrainOptions options) {
  options.workers = 4;
  options.batch = 10;
  options.sampling = Sampling::independent;
  options.gradients = {50};
  return advise<double>(Logistic::random(1),
                        {.options = options, .world = VirtualWorld{}, .try_steps = false});
}

TEST(Advise, WithNoiseNothingAboveTheLimitsForThatNoiseIsCalledProved) {
  const Advice advice = advise_with_noise({});
  auto limits = limits_by_name(advice);
  EXPECT_EQ(limits["certificate"]["status"], "proved only without noise");
  EXPECT_LT(advice.recommended_eta, limits["certificate"]["eta"].get<double>());
  EXPECT_EQ(advice.recommended_status, "proved");
  EXPECT_LE(advice.recommended_eta, limits["noise_certificate_tuned"]["eta"].get<double>());
  EXPECT_LE(limits["a_priori_tuned"]["eta"].get<double>(),
            limits["noise_certificate_tuned"]["eta"].get<double>());
  for (const char* name : {"noise_certificate_tuned", "a_priori_tuned", "mean_square_tuned"}) {
    EXPECT_THAT(limits[name]["grounds"].get<std::string>(),
                AllOf(HasSubstr("sigma^2 is at most"), HasSubstr("r0 is at most")));
    EXPECT_EQ(limits[name]["assumes"]["sigma2"], advice.constants.sigma2.value);
  }
  EXPECT_TRUE(limits["mean_square_tuned"]["assumes"].contains("Q"));
  EXPECT_THAT(advice.grounds, HasSubstr("sigma^2 is at most"));
}

TEST(Advise, WhatHasNoProofIsCalledAHeuristic) {
  TrainOptions momentum;
  momentum.rule.kind = RuleOptions::Kind::momentum;
  const Advice with_momentum = advise_with_noise(momentum);
  EXPECT_EQ(with_momentum.recommended_status, "heuristic");
  EXPECT_TRUE(with_momentum.promises.empty());
  for (const StepSizeLimit& limit : with_momentum.limits) EXPECT_NE(limit.status, "proved");

  Advice out_of_order = advise_with_noise({});
  out_of_order.staleness.noncausal = 3;
  recommend(out_of_order);
  EXPECT_EQ(out_of_order.recommended_status, "heuristic");
  EXPECT_THAT(out_of_order.grounds, HasSubstr("causal"));
  for (const auto& [name, limit] : limits_by_name(out_of_order))
    EXPECT_NE(limit["status"], "proved") << name;
}

TEST(Advise, APracticalStepIsTheBestOfThoseTried) {
  const Quadratic q = Quadratic::random(1);
  TrainOptions options{.workers = 2, .gradients = {200}};
  const Advice advice = advise<double>(q, {.options = options, .world = VirtualWorld{}});
  EXPECT_GT(advice.practical.tried.size(), 5u);
  EXPECT_THAT(advice.practical.how, HasSubstr("not proved"));
  options.eta = advice.practical.eta;
  const auto practical = run_simulation<double>(q, options, {});
  options.eta = advice.recommended_eta;
  const auto proved = run_simulation<double>(q, options, {});
  EXPECT_EQ(practical.failure, nullptr);
  EXPECT_LE(practical.summary.loss, proved.summary.loss);
}

// A network that has just begun gains a hundredth of its loss, and that distinguishes one step from
// another.
TEST(Advise, APracticalStepIsChosenByWhatIsGained) {
  const Quadratic q = Quadratic::random(1);
  TrainOptions options{.workers = 2, .gradients = {200}};
  const double start = q.loss(q.start());
  const test::Unknown high_up(q, 100 * start);
  options.eta =
      advise<double>(high_up, {.options = options, .world = VirtualWorld{}}).practical.eta;
  EXPECT_LT(run_simulation<double>(q, options, {}).summary.loss, 0.1 * start);
}

// As many for each would be most of them by the slow worker alone, when the others have ended.
TEST(Advise, TrialsShareTheirBudgetAsTheRunDoes) {
  const Quadratic q = Quadratic::random(1);
  const TrainOptions options{
      .workers = 3, .total_gradients = 100, .slow = {{.worker = WorkerId{2}, .factor = 10}}};
  const Advice advice = advise<double>(q, {.options = options, .world = VirtualWorld{}});
  ASSERT_FALSE(advice.practical.tried.empty());
  EXPECT_EQ(advice.practical.tried.back().gradients, 100u);
}

// The noise of a fixed step would judge it, and a short trial then favours one that is too small.
TEST(Advise, APracticalStepCoolsDownWhereGradientsHaveNoiseAndTheRunAnEnd) {
  const auto schedule = [](TrainOptions options, bool keep = false) {
    options.batch = options.batch.value_or(4);
    const Logistic logistic = Logistic::random(3, 200, 5);
    return to_string(
        advise<double>(logistic,
                       {.options = options, .world = VirtualWorld{}, .keep_schedule = keep})
            .practical.schedule);
  };
  EXPECT_EQ(schedule({.total_gradients = 200}), "cooldown");
  EXPECT_EQ(schedule({.total_gradients = 200}, true), "constant") << "as it was given";
  EXPECT_EQ(schedule({.batch = 0, .total_gradients = 200}), "constant") << "no noise";
  EXPECT_EQ(schedule({.max_time = std::chrono::seconds(5)}), "constant") << "no end is known";
  TrainOptions cosine{.total_gradients = 200};
  set_schedule(cosine.rule.schedule, "cosine");
  EXPECT_EQ(schedule(cosine), "cosine");
}

TEST(Advise, TrialsFollowAGivenScheduleAsFarAsTheirShareOfTheRunGoes) {
  const Logistic logistic = Logistic::random(3, 200, 5);
  const auto losses = [&](const char* schedule) {
    TrainOptions options{.batch = 4, .total_gradients = 2000};
    set_schedule(options.rule.schedule, schedule);
    std::vector<std::optional<double>> found;
    for (const TriedStep& t :
         advise<double>(logistic,
                        {.options = options, .world = VirtualWorld{}, .keep_schedule = true})
             .practical.tried)
      found.push_back(t.loss);
    found.resize(8);  // of the coarse grid, which is always the same
    return found;
  };
  EXPECT_EQ(losses("cooldown:1e12"), losses("constant")) << "far from its end";
  EXPECT_NE(losses("cooldown"), losses("constant"));
  EXPECT_EQ(losses("cooldown"), losses("cooldown:2000"));
}

TEST(StepLimits, SayWhyARunIsNeitherCertifiedNorRefused) {
  StalenessSummary s;
  s.W = 10;
  const StepLimits noisy = step_limits(s, 0.01, 1, {.noise = true});
  EXPECT_FALSE(noisy.certified);
  EXPECT_THAT(noisy.certified_why, HasSubstr("noise"));
  EXPECT_EQ(step_limits(s, 0.01, 1, {}).certified, true);
  EXPECT_THAT(step_limits(s, 0.01, 1, {}).certified_why, HasSubstr("at most 1"));
  EXPECT_EQ(step_limits(s, 10, 1, {}).certified, false);
  EXPECT_THAT(step_limits(s, 10, 1, {}).certified_why, HasSubstr("above 1"));
  EXPECT_EQ(step_limits(s, 0.01, 1, {.fixed_step = false}).certified, false);
  s.W.reset();
  EXPECT_FALSE(step_limits(s, 0.01, 1, {}).certified);
}

TEST(Certificate, RefusesTheBurstThatBreaksTheoremOneAndHoldsWhereItAccepts) {
  VirtualWorld world;
  world.compute = TimeModel::per_item({1'500'000'000, 1'000'000'000, 1'000'000'000, 1'000'000'000});
  world.latency = TimeModel::constant(100'000'000);
  world.apply = 0;
  TrainOptions options{.workers = 4,
                       .eta = 0.5,
                       .gradients = {69, 1, 1, 1},
                       .smoothness = 1,
                       .measure_gradients = true};
  const auto burst = run_simulation<double>(Parabola(), options, world);
  const StalenessSummary& s = burst.summary.staleness;
  EXPECT_DOUBLE_EQ(s.S_hat_avg, 6.0 / 72);
  EXPECT_EQ(s.S_hat_max, 3u);
  ASSERT_TRUE(burst.summary.step);
  const StepLimits& step = *burst.summary.step;
  EXPECT_DOUBLE_EQ(step.published_eta_2, 0.5);  // exactly at the published limit
  ASSERT_TRUE(step.published);
  EXPECT_NEAR(step.published->left, 17.0 / 6, 1e-9);
  EXPECT_NEAR(step.published->right, 7.0 / 3, 1e-9);
  EXPECT_GT(step.published->ratio(), 1);  // and the published inequality is violated
  EXPECT_EQ(step.certified, false);

  options.eta = *step.certified_eta;
  const auto safe = run_simulation<double>(Parabola(), options, world);
  EXPECT_EQ(safe.summary.staleness.W, s.W);
  EXPECT_EQ(safe.summary.step->certified, true);
  EXPECT_LE(safe.summary.step->certificate->ratio(), 1);
}

struct RandomRun {
  TrainOptions options;
  VirtualWorld world;
};

RandomRun draw_run(Random& random) {
  RandomRun run;
  const char* const topologies[] = {"full", "ring", "directed-ring", "star", "exponential"};
  run.options.workers = 2 + random.below(5);
  run.options.topology = topologies[random.below(5)];
  if (run.options.topology != "full" && random.below(2) == 0) run.options.relay = RelayMode::apply;
  for (std::size_t i = 0; i < run.options.workers; ++i)
    run.options.gradients.push_back(1 + random.below(30));
  if (random.below(2) == 0) run.options.slow = {{WorkerId{1}, 1.0 + random.below(20)}};
  run.options.seed = random.bits();
  run.world.compute = TimeModel::lognormal(1'000'000, 0.2 + random.uniform());
  run.world.latency = TimeModel::exponential(1 + random.below(3'000'000));
  run.world.chaos.reorder = random.below(2) == 0 ? 0 : 0.5;
  run.world.chaos.drop = random.below(3) == 0 ? 0.2 : 0;
  return run;
}

TEST(Certificate, IsNeverViolatedInAThousandSimulatedRuns) {
  std::size_t published_violations = 0;
  for (std::uint64_t seed = 1; seed <= 1000; seed += test::sampled_one_in) {
    SCOPED_TRACE(seed);
    Random random(seed, Purpose::test, 11);
    RandomRun run = draw_run(random);
    std::unique_ptr<Objective<double>> f;
    if (random.below(2) == 0)
      f = std::make_unique<test::Huber>(random, 3, 8);
    else
      f = std::make_unique<Quadratic>(Quadratic::random(seed, 3));
    run.options.smoothness = f->known().smoothness;
    run.options.measure_gradients = true;
    run.options.eta = 1e-3 / *f->known().smoothness;
    // When things happen does not depend on eta: the first run shows the staleness of the others.
    const auto first = run_simulation<double>(*f, run.options, run.world);
    ASSERT_TRUE(first.summary.audit_is_clean());
    const StepLimits& limits = *first.summary.step;
    for (const double eta :
         {*limits.certified_eta, (0.2 + 0.8 * random.uniform()) * *limits.certified_eta,
          limits.a_priori_eta}) {
      run.options.eta = eta * (1 - 1e-12);
      const auto result = run_simulation<double>(*f, run.options, run.world);
      ASSERT_EQ(result.summary.staleness.W, first.summary.staleness.W);
      ASSERT_EQ(result.summary.step->certified, true);
      ASSERT_LE(result.summary.step->certificate->ratio(), 1 + 1e-9);
    }
    published_violations += limits.published->ratio() > 1 ? 1 : 0;
  }
  RecordProperty("published_violations", static_cast<int>(published_violations));
}

}  // namespace
}  // namespace dasgd
