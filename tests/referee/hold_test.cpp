// A whole contest: when runs are ended, and that this changes nothing else.
#include "dasgd/lab/referee/hold.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "dasgd/lab/referee/contest/run_one.hpp"
#include "dasgd/lab/referee/contest/worlds.hpp"
#include "dasgd/lab/referee/tuning.hpp"
#include "dasgd/lab/referee/verdict.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd {
namespace {

/// Four workers with thin network cards: a broadcaster falls behind.
Contest thin_contest(const Quadratic& objective) {
  ContestWorld usual{"", {.workers = 4}, {}};
  usual.options.max_time = std::chrono::seconds(30);
  usual.world.compute = TimeModel::constant(10'000'000);
  Contest contest{.worlds = {named_world("thin-nic", usual, 8 * objective.dimension())},
                  .goal = {Goal::Kind::error, 0.05},
                  .every = 100'000'000,
                  .seeds = 2,
                  .tuning = {.steps = 3, .seeds = 1, .further = 1, .numbers = false},
                  .advised_eta = 0.25,
                  .measured_S = 0,
                  .threads = 2};
  for (const char* name : {"dasgd", "minibatch", "local-sgd", "diloco"})
    contest.rivals.push_back(choose_rival(name, all_rivals()));
  return contest;
}

std::vector<ContestRow> rows_of(const Contest& contest, const Quadratic& objective) {
  Journal journal;
  const Objective<double>& problem = objective;
  return hold_contest(problem, contest, journal, [](std::size_t, std::size_t) {});
}

TEST(Held, WhoCannotBeFirstAnyMoreIsEndedAndNothingElseChanges) {
  const Quadratic objective = Quadratic::random(7, 4);
  Contest contest = thin_contest(objective);
  contest.most_times_best = 0;
  const auto whole = rows_of(contest, objective);
  contest.most_times_best = 3;
  const auto ended = rows_of(contest, objective);
  ASSERT_EQ(whole.size(), ended.size());
  double best = 1e9;
  for (const ContestRow& row : whole)
    for (const Trial& trial : row.trials) best = std::min(best, trial.median);
  std::size_t reached = 0, cut = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    EXPECT_EQ(whole[k].eta, ended[k].eta);
    EXPECT_DOUBLE_EQ(whole[k].given_s, 30);
    EXPECT_NEAR(ended[k].given_s, 3 * best, 1e-6);
    for (std::size_t seed = 0; seed < contest.seeds; ++seed) {
      const ContestRun &before = whole[k].runs[seed], &after = ended[k].runs[seed];
      if (before.reached && before.time_s <= ended[k].given_s - 0.3) {
        ++reached;
        EXPECT_TRUE(after.reached) << after.rival;
        EXPECT_EQ(after.time_s, before.time_s) << after.rival;
        EXPECT_EQ(after.gradients_used, before.gradients_used) << after.rival;
        EXPECT_EQ(after.loss_mean, before.loss_mean) << after.rival;
        EXPECT_EQ(after.S_avg, before.S_avg) << after.rival;
      } else if (before.time_to_goal() > ended[k].given_s) {
        ++cut;
        EXPECT_FALSE(after.reached) << after.rival;
        EXPECT_LE(after.time_s, ended[k].given_s) << after.rival;
      }
    }
  }
  EXPECT_GT(reached, 0u);
  EXPECT_GT(cut, 0u);
  EXPECT_EQ(sum_up("thin-nic", whole, judge(whole, 1)).winner,
            sum_up("thin-nic", ended, judge(ended, 1)).winner);
}

TEST(Held, ThreadsChangeNothing) {
  const Quadratic objective = Quadratic::random(7, 4);
  Contest contest = thin_contest(objective);
  const auto by_two = rows_of(contest, objective);
  contest.threads = 1;
  const auto by_one = rows_of(contest, objective);
  for (std::size_t k = 0; k < by_one.size(); ++k)
    for (std::size_t seed = 0; seed < contest.seeds; ++seed) {
      EXPECT_EQ(by_one[k].runs[seed].seed, by_two[k].runs[seed].seed);
      EXPECT_EQ(by_one[k].runs[seed].time_s, by_two[k].runs[seed].time_s);
      EXPECT_EQ(by_one[k].runs[seed].loss_mean, by_two[k].runs[seed].loss_mean);
    }
}

TEST(Held, ATrialThatRanAwayIsNoReferenceForSmallerSteps) {
  const Quadratic objective = Quadratic::random(7, 4);
  Contest contest = thin_contest(objective);
  contest.worlds.front().world = {.compute = TimeModel::constant(10'000'000)};
  contest.rivals.resize(1);
  contest.every = 1'000'000;
  contest.tuning = {.steps = 5, .seeds = 1, .further = 4, .patience = 1.25, .numbers = false};
  contest.advised_eta = 0.470925;  // too large: the loss falls before it rises
  const ContestRow row = rows_of(contest, objective).front();
  ASSERT_FALSE(std::isfinite(row.trials.back().median));
  EXPECT_TRUE(std::any_of(row.trials.begin(), row.trials.end(),
                          [](const Trial& trial) { return std::isfinite(trial.median); }));
  EXPECT_EQ(tuning_flaw(row), "");
  for (const ContestRun& run : row.runs) EXPECT_TRUE(run.reached);
}

TEST(Held, StepsAreTunedAgainWhereOnlyAnotherNumberThanTheUsualOneLeadsToTheGoal) {
  const Quadratic objective = Quadratic::random(7, 4);
  Contest contest = thin_contest(objective);
  contest.worlds.front().world = {.compute = TimeModel::constant(10'000'000),
                                  .latency = TimeModel::constant(10'000'000'000)};
  contest.rivals = {choose_rival("local-sgd", all_rivals())};  // eight steps, then a minute's wait
  contest.tuning = {.steps = 5, .seeds = 1};
  contest.tuning.numbers = false;
  EXPECT_FALSE(reached_in_tuning(rows_of(contest, objective).front()));
  contest.tuning.numbers = true;
  const ContestRow row = rows_of(contest, objective).front();
  EXPECT_GT(row.numbers.at("H"), 8);
  EXPECT_TRUE(reached_in_tuning(row));
  for (const ContestRun& run : row.runs) EXPECT_TRUE(run.reached);
}

TEST(Held, AGoalThatIsReachedInTimeMayBeConfirmedLater) {
  const Quadratic objective = Quadratic::random(7, 4);
  Contest contest = thin_contest(objective);
  contest.worlds.front().world = {.compute = TimeModel::constant(10'000'000)};
  contest.every = 1'000'000;
  const Objective<double>& problem = objective;
  ModelJudge<double> judge(problem);
  for (const ChosenRival& rival : contest.rivals) {
    RunRequest request{.eta = 0.03};
    const auto run = [&] { return run_one(judge, contest, rival, contest.worlds[0], request); };
    const ContestRun free = run();
    ASSERT_TRUE(free.reached) << rival.label;
    const auto time = static_cast<Nanoseconds>(free.time_s * 1e9);
    request.most = time + contest.every / 2;
    const ContestRun in_time = run();
    EXPECT_TRUE(in_time.reached) << rival.label;
    EXPECT_EQ(in_time.time_s, free.time_s) << rival.label;
    request.most = time - contest.every / 2;
    const ContestRun late = run();
    EXPECT_FALSE(late.reached) << rival.label;
    EXPECT_DOUBLE_EQ(late.time_s, static_cast<double>(*request.most) * 1e-9) << rival.label;
  }
}

TEST(Held, ALoserSaysHowLongItWasGiven) {
  ContestRow dasgd{.rival = "dasgd", .given_s = 48}, quick{.rival = "quick", .given_s = 48};
  dasgd.runs.resize(3);
  quick.runs.resize(3, {.reached = true, .time_s = 3});
  const std::vector rows{dasgd, quick};
  EXPECT_NE(sum_up("w", rows, judge(rows, 1)).sentence.find("the goal in the 48 s given"),
            std::string::npos);
}

TEST(Held, WhereNobodyWasTunedToTheGoalAllHaveTheTimeOfTheWorld) {
  ContestWorld world;
  world.options.max_time = std::chrono::seconds(100);
  const auto given = [&](double median) {
    const std::vector<ContestRow> rows{{.trials = {{.median = median}}}, {}};
    return time_given({}, world, rows);
  };
  constexpr Nanoseconds second = 1'000'000'000;
  EXPECT_EQ(given(std::numeric_limits<double>::infinity()), 100 * second);
  EXPECT_EQ(given(50), 100 * second);
  EXPECT_EQ(given(2), 40 * second);
}

}  // namespace
}  // namespace dasgd
