// Rivals with update rules, and DiLoCo with eager updates, in the limits in which they are known.
#include "dasgd/sim/simulate.hpp"
#include "rivals/support.hpp"

namespace dasgd::test {
namespace {

/// The points at which gradients were asked for, in order.
using PointsAsked = std::vector<std::vector<double>>;

template <typename Run>
PointsAsked asked_during(Scene& scene, Run&& run) {
  PointsAsked asked;
  scene.problem.on_gradient = [&](std::span<const double> x) {
    asked.emplace_back(x.begin(), x.end());
  };
  run();
  scene.problem.on_gradient = {};
  return asked;
}
PointsAsked asked_by(const std::string& rival, Scene& scene) {
  return asked_during(scene, [&] { scene.play(rival); });
}
PointsAsked asked_by_dasgd(Scene& scene, LookAhead ahead, RuleOptions::Kind rule = {}) {
  TrainOptions options = scene.options;
  options.look_ahead = ahead;
  options.rule.kind = rule;
  return asked_during(scene, [&] { run_simulation<double>(scene.problem, options, scene.world); });
}

void expect_same_points(const PointsAsked& a, const PointsAsked& b, std::size_t count) {
  ASSERT_GE(a.size(), count);
  ASSERT_GE(b.size(), count);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < a[k].size(); ++i)
      ASSERT_NEAR(a[k][i], b[k][i], 1e-9) << "gradient " << k;
}

TEST(EagerLimit, OneOwnStepAPhaseIsDasgdWithOneStepOfDelay) {
  Scene scene(4);
  scene.gradients(200);
  scene.world.latency = TimeModel::constant(ms);  // within a gradient's time, all the way round
  expect_same_points(asked_by("eager:H=1:rule=sgd:outer_lr=1:outer_momentum=0", scene),
                     asked_by_dasgd(scene, {}), 150);
}

TEST(EagerLimit, OwnStepsThatStandForAllAreLookAhead) {
  Scene scene(4);
  scene.gradients(200);
  scene.world.latency = TimeModel::constant(ms);
  expect_same_points(asked_by("eager:H=1:rule=sgd:outer_lr=1:outer_momentum=0:own=1", scene),
                     asked_by_dasgd(scene, {LookAhead::Kind::fixed, 1}), 150);
}

// With one worker all of them are the same rule on the same gradients.
TEST(RuleLimit, OneWorkerIsTheRuleOfTrain) {
  for (const auto& [rule, kind] : {std::pair{"momentum", RuleOptions::Kind::momentum},
                                   std::pair{"nesterov", RuleOptions::Kind::nesterov},
                                   std::pair{"adam", RuleOptions::Kind::adam}}) {
    Scene scene(1);
    scene.gradients(60);
    const PointsAsked minibatch = asked_by(std::string("minibatch:rule=") + rule, scene);
    for (const std::string name : {"asgd", "local-sgd:H=1", "easgd:beta=0"})
      expect_same_points(asked_by(name + ":rule=" + rule, scene), minibatch, 50);
    expect_same_points(asked_by_dasgd(scene, {}, kind), minibatch, 50);
  }
}

TEST(RuleLimit, PlainStepsAreTheDefault) {
  Scene scene(3);
  scene.gradients(60);
  for (const std::string name : {"minibatch", "asgd", "local-sgd", "easgd"})
    EXPECT_EQ(asked_by(name, scene), asked_by(name + ":rule=sgd", scene)) << name;
}

TEST(RuleLimit, ARuleSeesTheMeanOfAllGradients) {
  // n gradients at one point: one step of n eta with their mean.
  Scene many(4), one(1);
  many.gradients(80);
  one.gradients(20);
  one.options.eta = 4 * many.options.eta;
  many.options.batch = one.options.batch = 64;  // the whole data set: no noise
  const PointsAsked asked = asked_by("minibatch:rule=nesterov", many);
  PointsAsked rounds;
  for (std::size_t k = 0; k < asked.size(); k += 4) rounds.push_back(asked[k]);
  expect_same_points(rounds, asked_by("minibatch:rule=nesterov", one), 18);
}

TEST(Variants, OfDasgdAreRead) {
  const ChosenRival rival = choose_rival(
      "dasgd:rule=nesterov:look_ahead=1:topology=torus:4x4:momentum=0.8", all_rivals());
  EXPECT_EQ(rival.texts.at("topology"), "torus:4x4");
  EXPECT_EQ(rival.texts.at("momentum"), "0.8");
  EXPECT_EQ(rival.texts.at("look_ahead"), "1");
  for (const char* bad :
       {"dasgd:rule=sdg", "dasgd:look_ahead=2", "dasgd:topology=rign", "dasgd:momentum=x",
        "dasgd:lambda=1", "dasgd:rule", "minibatch:rule=adma"})
    EXPECT_THROW(choose_rival(bad, all_rivals()), InputError) << bad;
}

}  // namespace
}  // namespace dasgd::test
