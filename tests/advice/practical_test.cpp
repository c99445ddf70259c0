#include "dasgd/advice/practical.hpp"

#include <gtest/gtest.h>

#include "dasgd/advice/advise.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd {
namespace {

TEST(PracticalStep, ReportsWhatItTriesAndMayTakeATenthOfTheRunOrTenSeconds) {
  EXPECT_EQ(seconds_for_trials(20), 10);
  EXPECT_EQ(seconds_for_trials(1000), 100);
  const Quadratic q = Quadratic::random(1);
  std::vector<std::string> lines;
  TrainOptions options{.workers = 2};
  options.gradients = {200};
  const Advice advice = advise<double>(
      q, {.options = options, .world = VirtualWorld{}, .report = [&](const std::string& line) {
            lines.push_back(line);
          }});
  ASSERT_GT(lines.size(), 3u);
  EXPECT_NE(lines[0].find("measuring"), std::string::npos);
  EXPECT_NE(lines[1].find("lr auto tries"), std::string::npos);
  EXPECT_EQ(lines.size(), 1 + advice.practical.tried.size());
}

TEST(PracticalStep, SaysWhichShareOfTheBestTrialItIs) {
  const Quadratic q = Quadratic::random(1);
  TrainOptions options{.workers = 2};
  options.gradients = {200};
  const double L = *q.known().smoothness;
  const auto with_proved = [&](double proved) {
    return try_steps<double>(q, options, VirtualWorld{}, L, proved, 400);
  };
  const auto best = with_proved(1e9), lower = with_proved(1e-9);
  ASSERT_TRUE(best && lower);
  EXPECT_EQ(best->share, 1);
  EXPECT_DOUBLE_EQ(lower->share, 0.5) << "gradients have no noise";
  EXPECT_EQ(part_of_best(0.5, 0.0588512), "0.5 of 0.05885, ");
  EXPECT_EQ(part_of_best(0.5), "0.5 of ");
  EXPECT_EQ(part_of_best(0.998, 0.0588512), "") << "no \"1 of the best\"";
}

TEST(PracticalStep, NoTrialBeginsWhenTheTimeIsOver) {
  const Quadratic q = Quadratic::random(1);
  TrainOptions options{.workers = 2};
  options.gradients = {200};
  const double L = *q.known().smoothness;
  const auto found =
      try_steps<double>(q, options, VirtualWorld{}, L, 0.1 / L, 400, false, {.seconds = 0});
  if (found) EXPECT_LE(found->tried.size(), 2u);  // the first of each grid at most
}

}  // namespace
}  // namespace dasgd
