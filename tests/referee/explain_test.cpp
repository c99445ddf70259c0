#include "dasgd/lab/referee/page/explain.hpp"

#include <cmath>
#include <gmock/gmock.h>

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ContestRow run_times(const std::string& rival, const std::vector<double>& times,
                     std::uint64_t gradients = 1000) {
  ContestRow row{.rival = rival};
  for (const double time : times) {
    ContestRun& run = row.runs.emplace_back();
    run.reached = true;
    run.time_s = time;
    run.gradients_used = gradients;
  }
  return row;
}

JudgedWorld judged_world(const std::string& name, std::vector<ContestRow> rows,
                         std::vector<Judgement> judgements) {
  return {.name = name, .rows = std::move(rows), .judgements = std::move(judgements)};
}

Contest contest_of(std::size_t seeds) {
  Contest contest{.seeds = seeds};
  contest.worlds.push_back({.name = "equal", .options = {.workers = 8}});
  return contest;
}

TEST(Explained, MoreSeedsAreNeededWhereNoiseIsLargerThanTheDifference) {
  const ContestRow reference = run_times("dasgd", {1, 1, 1});
  const auto clear = seeds_to_show(run_times("asgd", {1.5, 1.51, 1.49}), reference);
  const auto noisy = seeds_to_show(run_times("asgd", {1.5, 0.8, 1.3}), reference);
  ASSERT_TRUE(clear && noisy);
  EXPECT_LT(*clear, 5u);
  EXPECT_GT(*noisy, 10u);
  EXPECT_FALSE(seeds_to_show(reference, reference));
}

TEST(Explained, ADifferenceThatIsNotShownSaysHowManySeedsWouldShowIt) {
  const std::vector<JudgedWorld> worlds{
      judged_world("equal", {run_times("dasgd", {1, 1, 1}), run_times("asgd", {1.5, 0.8, 1.3})},
                   {{.reference = true, .median = 1, .verdict = ""},
                    {.median = 1.3, .ratio = 1.3, .verdict = "no difference shown"}})};
  EXPECT_THAT(
      unshown_differences(contest_of(3), worlds),
      ElementsAre(HasSubstr(
          "In equal, 3 seeds cannot show a difference from dasgd: asgd (1.30 times, about")));
}

TEST(Explained, GoalsThatAreTooEasyAndWorldsThatAreTheSameAreDoubted) {
  const auto rows = [](std::uint64_t gradients) {
    return std::vector{run_times("dasgd", {1}, gradients), run_times("asgd", {2}, gradients)};
  };
  const std::vector<Judgement> same{{.median = 1}, {.median = 2}};
  EXPECT_THAT(doubts_of(contest_of(3), {judged_world("equal", rows(20), same)}),
              ElementsAre(HasSubstr("dasgd reaches the goal with 20 gradients, 2.5 per worker")));
  EXPECT_THAT(doubts_of(contest_of(3), {judged_world("equal", rows(1000), same),
                                        judged_world("slow-links", rows(1000), same)}),
              ElementsAre(HasSubstr("The worlds equal and slow-links do not differ")));
  const std::vector<Judgement> never{{.median = INFINITY}, {.median = INFINITY}};
  EXPECT_THAT(doubts_of(contest_of(3), {judged_world("equal", rows(1000), never),
                                        judged_world("slow-links", rows(1000), never)}),
              IsEmpty());
  EXPECT_THAT(doubts_of(contest_of(3),
                        {judged_world("equal", rows(1000), same),
                         judged_world("slow-links", rows(1000), {{.median = 1}, {.median = 3}})}),
              IsEmpty());
}

TEST(Explained, GoalsThatAreReachedAtTheFirstEvaluationAreDoubted) {
  Contest contest = contest_of(3);
  contest.every = 1'000'000'000;
  const std::vector rows{run_times("dasgd", {1}), run_times("asgd", {1}), run_times("slow", {3})};
  EXPECT_THAT(
      doubts_of(contest,
                {judged_world("equal", rows, {{.median = 1}, {.median = 1}, {.median = 3}})}),
      ElementsAre("In equal, 2 of 3 methods reach the goal at the first evaluation: too early to "
                  "distinguish them; choose a harder goal or evaluate more often."));
}

}  // namespace
}  // namespace dasgd
