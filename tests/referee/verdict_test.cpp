#include "dasgd/lab/referee/verdict.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "dasgd/lab/referee/tuning.hpp"

namespace dasgd {
namespace {

using ::testing::HasSubstr;
constexpr double never = std::numeric_limits<double>::infinity();

ContestRow row(const std::string& rival, const std::vector<double>& times) {
  ContestRow row{.rival = rival, .world = "w"};
  for (const double time : times) {
    ContestRun run;
    run.reached = std::isfinite(time);
    run.time_s = run.reached ? time : 100;
    row.runs.push_back(run);
  }
  return row;
}

TEST(Verdict, PairedTestAgreesWithTables) {
  // t = 2.262 is the two-sided 5 % point with 9 degrees of freedom; 3.182 with 3.
  const auto with_t = [](std::size_t n, double t) {
    std::vector<double> values(n);
    for (std::size_t k = 0; k < n; ++k) values[k] = k % 2 == 0 ? 1 : -1;  // n is even: mean 0
    const double deviation = std::sqrt(static_cast<double>(n) / static_cast<double>(n - 1));
    for (double& v : values) v += t * deviation / std::sqrt(static_cast<double>(n));
    return values;
  };
  EXPECT_NEAR(paired_p(with_t(10, 2.262)), 0.05, 2e-4);
  EXPECT_NEAR(paired_p(with_t(4, 3.182)), 0.05, 2e-4);
  EXPECT_NEAR(paired_p(with_t(4, 5.841)), 0.01, 2e-4);
  EXPECT_EQ(paired_p({0, 0, 0}), 1);
  EXPECT_EQ(paired_p({0.5, 0.5, 0.5}), 0);
  EXPECT_EQ(paired_p({0.5}), 1);
}

TEST(Verdict, HolmMultipliesByWhatIsLeftAndNeverFalls) {
  const auto p = holm({0.01, 0.04, 0.03, 0.5});
  EXPECT_DOUBLE_EQ(p[0], 0.04);
  EXPECT_DOUBLE_EQ(p[2], 0.09);
  EXPECT_DOUBLE_EQ(p[1], 0.09);
  EXPECT_DOUBLE_EQ(p[3], 0.5);
}

TEST(Verdict, BootstrapIntervalHoldsTheMedianAndShrinksWithAgreement) {
  const Interval wide = bootstrap_median({1, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
  EXPECT_LT(wide.low, 5);
  EXPECT_GT(wide.high, 5);
  const Interval narrow = bootstrap_median({5, 5, 5, 5, 5}, 1);
  EXPECT_EQ(narrow.low, 5);
  EXPECT_EQ(narrow.high, 5);
}

TEST(Verdict, WordsSayWhatIsShown) {
  ContestRow untuned = row("edge", {1, 1.1, 0.9, 1});
  untuned.tuned = untuned.at_edge = true;
  const std::vector<ContestRow> rows{
      row("dasgd", {10, 11, 9, 10.5}),         row("quick", {5, 5.6, 4.4, 5.3}),
      row("slow", {20, 23, 17, 21}),           row("same", {10.5, 10.4, 9.5, 10.2}),
      row("never", {never, never, never, 40}), untuned};
  const auto judged = judge(rows, 1);
  EXPECT_EQ(judged[0].verdict, "no difference shown");
  EXPECT_EQ(judged[1].verdict, "faster");
  EXPECT_EQ(judged[1].wins, 4u);
  EXPECT_NEAR(*judged[1].ratio, 0.5, 0.02);
  EXPECT_EQ(judged[2].verdict, "slower");
  EXPECT_EQ(judged[3].verdict, "no difference shown");
  EXPECT_EQ(judged[4].verdict, "not reached");
  EXPECT_EQ(judged[5].verdict, "not tuned");
}

TEST(Verdict, AReferenceThatMostlyMissesTheGoalIsBeatenOnlyWhereATestShowsIt) {
  const auto verdict = [](const std::vector<double>& reference, const std::vector<double>& times) {
    return judge({row("dasgd", reference), row("other", times)}, 1)[1].verdict;
  };
  EXPECT_EQ(verdict({never, never, never, never}, {5, 6, 5, 6}), "faster");
  EXPECT_EQ(verdict({4, 4, never, never, never}, {5, 6, 7, never, never}), "no difference shown");
}

TEST(Verdict, ASeedThatBothMissSaysNothingOfTheOthers) {
  const std::vector<ContestRow> rows{row("dasgd", {5, 5.1, 5.2, never}),
                                     row("other", {10, 10.3, 10.1, never})};
  EXPECT_TRUE(sum_up("w", rows, judge(rows, 1), 0.1).shown);
}

TEST(Verdict, ARowWhoseTrialsNeverReachedTheGoalIsNotTuned) {
  const auto without_trials = [](ContestRow row) {
    row.tuned = true;
    row.trials = {{.eta = 1, .median = never}, {.eta = 2, .median = never}};
    return row;
  };
  const std::vector<ContestRow> rows{row("dasgd", {10, 11, 9, 10.5}),
                                     without_trials(row("slow", {20, 23, 17, 21})),
                                     without_trials(row("never", {never, never, never, never}))};
  const auto judged = judge(rows, 1);
  EXPECT_EQ(judged[1].verdict, "not tuned");
  EXPECT_EQ(judged[2].verdict, "not reached");
  ContestRow quick = without_trials(row("quick", {5, 5.5, 4.5, 5}));
  const std::vector<ContestRow> won{rows[0], quick};
  EXPECT_THAT(sum_up("w", won, judge(won, 1)).sentence,
              HasSubstr("with a step that did not reach the goal in tuning"));
}

TEST(Verdict, EqualTimesAreATie) {
  const auto sentence = [](const std::vector<ContestRow>& rows) {
    return sum_up("w", rows, judge(rows, 1)).sentence;
  };
  EXPECT_EQ(sentence({row("asgd", {5, 5}), row("dasgd", {5, 5}), row("slow", {9, 9})}),
            "w: asgd and dasgd tie at 5 s (5 to 5).");
  EXPECT_EQ(sentence({row("a", {5, 5}), row("b", {5, 5}), row("c", {5, 5}), row("dasgd", {9, 9})}),
            "w: a, b and c tie at 5 s (5 to 5); DASGD loses: it takes 1.80 times as long, "
            "9 s (9 to 9).");
}

TEST(Verdict, WhatOneLookCannotResolveIsNotADifference) {
  const std::vector<ContestRow> rows{row("dasgd", {10, 10, 10}), row("like", {9.5, 9.5, 9.5})};
  EXPECT_EQ(judge(rows, 1, 0.1)[1].verdict, "faster");
  EXPECT_EQ(judge(rows, 1, 0.5)[1].verdict, "no difference shown");
}

TEST(Verdict, SentencesSayWhenDasgdLoses) {
  const auto sentence = [](const std::vector<ContestRow>& rows) {
    return sum_up("w", rows, judge(rows, 1));
  };
  const auto loses = sentence({row("dasgd", {10, 11, 9}), row("quick", {5, 5.5, 4.5})});
  EXPECT_EQ(loses.winner, "quick");
  EXPECT_TRUE(loses.dasgd_loses);
  EXPECT_THAT(loses.sentence, HasSubstr("DASGD loses: it takes 2.00 times as long"));
  ContestRow untuned = row("quick", {5, 5.5, 4.5});
  untuned.tuned = untuned.at_edge = true;
  const auto also = sentence({row("dasgd", {10, 11, 9}), untuned});
  EXPECT_TRUE(also.dasgd_loses);
  EXPECT_THAT(also.sentence, HasSubstr("with the last step tried; DASGD loses"));
  const auto wins = sentence({row("dasgd", {5, 5.5, 4.5}), row("slow", {10, 11, 9})});
  EXPECT_EQ(wins.winner, "dasgd");
  EXPECT_FALSE(wins.dasgd_loses);
  EXPECT_THAT(wins.sentence, HasSubstr("next is slow"));
  const auto open = sentence({row("dasgd", {10, 12, 9}), row("like", {9.9, 11, 9.8})});
  EXPECT_FALSE(open.dasgd_loses);
  EXPECT_THAT(open.sentence, HasSubstr("not shown"));
  EXPECT_THAT(sentence({row("dasgd", {never, never})}).sentence, HasSubstr("no method reaches"));
  EXPECT_TRUE(sentence({row("dasgd", {never, never, never}), row("quick", {5, 5, 6})}).dasgd_loses);
}

// A rival that is fastest at a step of 1 and diverges from 8 on.
ContestRun parabola(double eta) {
  ContestRun run;
  run.reached = eta < 8;
  run.time_s = 1 + std::pow(std::log2(eta), 2);
  return run;
}

TEST(Tuning, TriesSmallerStepsWhileNoneReachesTheGoal) {
  // All steps above 1/16 are too large; what they leave says nothing about the direction.
  ContestRow found;
  tune(
      {.steps = 5, .seeds = 1, .further = 4}, Goal{}, 1,
      [](double eta, std::size_t, std::optional<Nanoseconds>) {
        ContestRun run;
        run.reached = eta <= 1.0 / 16;
        run.time_s = run.reached ? 1 / eta : 100;
        run.loss_mean = eta == 2 ? 2.29 : 2.3;
        return run;
      },
      found);
  EXPECT_EQ(found.eta, 1.0 / 16);
  EXPECT_FALSE(found.at_edge);
}

TEST(Tuning, OfStepsThatMissAnAccuracyTheMostAccurateIsTheBest) {
  const auto run = [](double eta, std::size_t, auto) {
    ContestRun run;
    run.time_s = 10;
    run.loss_mean = eta;  // large steps are less sure of what they say
    run.lost = eta > 4;   // however accurate it was when it was ended
    run.accuracy_mean = run.lost ? 0.85 : 0.8 - 0.01 * std::pow(std::log2(eta) - 1, 2);
    return run;
  };
  ContestRow by_accuracy, by_loss;
  const Tuning tuning{.steps = 7, .seeds = 1, .further = 0};
  tune(tuning, {Goal::Kind::accuracy, 0.9}, 1, run, by_accuracy);
  EXPECT_EQ(by_accuracy.eta, 2);
  tune(tuning, {Goal::Kind::loss, 0.01}, 1, run, by_loss);
  EXPECT_EQ(by_loss.eta, 1.0 / 8);
}

TEST(Tuning, FindsTheBestStepAndTheWidthOfTheGoodRange) {
  ContestRow row;
  tune(
      {.steps = 9, .seeds = 3}, Goal{}, 1,
      [](double eta, std::size_t, auto) { return parabola(eta); }, row);
  EXPECT_EQ(row.eta, 1);
  EXPECT_FALSE(row.at_edge);
  EXPECT_EQ(row.trials.size(), 8u);  // 8 fails, so that 16 is not tried
  EXPECT_EQ(row.tuning_runs, 24u);
  EXPECT_EQ(good_range(row.trials), (std::pair{0.5, 2.0}));
}

TEST(Tuning, ExtendsTheGridOrSaysThatItDidNotReachTheBest) {
  ContestRow near, far;
  const auto run = [](double eta, std::size_t, auto) { return parabola(eta); };
  tune({.steps = 3, .seeds = 1}, Goal{}, 16, run, near);
  EXPECT_EQ(near.eta, 1);
  EXPECT_FALSE(near.at_edge);
  tune({.steps = 3, .seeds = 1}, Goal{}, 1.0 / 1024, run, far);
  EXPECT_TRUE(far.at_edge);
}

TEST(Tuning, BeyondAStepThatFailsNoneIsTriedButTowardsTheBest) {
  ContestRow row;
  std::vector<double> tried;
  tune(
      {.steps = 5, .seeds = 1}, Goal{}, 8,
      [&](double eta, std::size_t, auto) {
        tried.push_back(eta);
        return parabola(eta);
      },
      row);
  // 8 fails; 4 reaches the goal, so that 16 and 32 are hopeless; then the grid grows downwards.
  EXPECT_EQ(tried, (std::vector<double>{8, 4, 2, 1, 0.5}));
  EXPECT_EQ(row.eta, 1);
  EXPECT_FALSE(row.at_edge);
}

TEST(Tuning, ARunIsGivenAMultipleOfTheBestMedianSoFar) {
  ContestRow row;
  std::vector<std::optional<Nanoseconds>> limits;
  tune(
      {.steps = 3, .seeds = 1, .patience = 1.5}, Goal{}, 1,
      [&](double eta, std::size_t, std::optional<Nanoseconds> most) {
        limits.push_back(most);
        return parabola(eta);
      },
      row);
  ASSERT_EQ(limits.size(), 3u);  // 1, 0.5, 2
  EXPECT_FALSE(limits[0]);
  EXPECT_NEAR(static_cast<double>(*limits[1]), 1.5e9, 10);
  EXPECT_NEAR(static_cast<double>(*limits[2]), 1.5e9, 10);
}

TEST(Tuning, ARivalsOwnNumberHasWhatTheStepsLeaveOfTheBudget) {
  const Tuning tuning{.steps = 9, .seeds = 3, .further = 1};
  const RivalParameter parameter{"B", "", 4, 1};
  const auto tuned = [&](double best, double usual) {
    ContestRow row{.trials = std::vector<Trial>(6, {.eta = 1, .median = 100}), .eta = 1};
    std::vector<double> tried;
    const double found = tune_number(
        tuning, Goal{}, parameter, usual,
        [&](double number, std::size_t seed, auto most) {
          EXPECT_TRUE(most);
          if (seed == 0) tried.push_back(number);
          return parabola(number / best);
        },
        row);
    EXPECT_EQ(row.tuning_runs, 3 * tried.size());
    return std::pair{found, tried};
  };
  using Values = std::vector<double>;
  EXPECT_EQ(tuned(16, 4), std::pair(16.0, (Values{16, 64, 256})));
  EXPECT_EQ(tuned(1, 4), std::pair(1.0, (Values{16, 64, 1}))) << "two that fail, then down";
  EXPECT_EQ(tuned(0.001, 1), std::pair(1.0, (Values{4, 16, 2}))) << "no less than its least";
}

TEST(Tuning, ARivalsOwnNumberGoesPastOneValueThatIsWorse) {
  ContestRow row{.trials = std::vector<Trial>(5, {.eta = 1, .median = 20}), .eta = 1};
  const auto synchronises = [](double H, std::size_t, auto) {
    ContestRun run;
    run.reached = true;
    run.time_s = H < 160 ? 20 + H / 10 : 4.4;  // not once before the goal
    return run;
  };
  EXPECT_EQ(tune_number({.steps = 9, .seeds = 1}, Goal{}, {"H", "", 10, 1}, 10, synchronises, row),
            160);
}

TEST(Tuning, ANumberHasTrialsOfItsOwnWhereStepsUsedUpTheGrid) {
  ContestRow row{.trials = std::vector<Trial>(9, {.eta = 1, .median = never, .distance = 100}),
                 .eta = 1};
  const auto wants = [](double best) {
    return [best](double H, std::size_t, auto) {
      ContestRun run;
      run.reached = H == best;
      run.loss_mean = std::abs(H - best);
      return run;
    };
  };
  const Tuning tuning{.steps = 9, .seeds = 1, .further = 4};
  EXPECT_EQ(tune_number(tuning, Goal{}, {"H", "", 10, 1}, 10, wants(160), row), 160);
  EXPECT_EQ(row.tuning_runs, 4u);
}

TEST(Tuning, ANumberWithoutTrialsIsTheAuthorsDefault) {
  ContestRow row{.trials = std::vector<Trial>(9, {.eta = 1, .median = 1}), .eta = 1};
  const auto never = [](double, std::size_t, auto) -> ContestRun { throw std::logic_error("run"); };
  EXPECT_EQ(tune_number({.steps = 9, .further = 0}, Goal{}, {"H", "", 8, 1}, 8, never, row), 8);
  EXPECT_EQ(row.tuning_runs, 0u);
}

}  // namespace
}  // namespace dasgd
