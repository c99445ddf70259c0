#include "dasgd/advice/practical.hpp"

#include <gtest/gtest.h>

#include "dasgd/advice/advise.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd {
namespace {

TEST(PracticalStep, TellsWhatItTriesAndMayTakeATenthOfTheRunOrTenSeconds) {
  EXPECT_EQ(seconds_for_trials(20), 10);
  EXPECT_EQ(seconds_for_trials(1000), 100);
  const Quadratic q = Quadratic::random(1);
  std::vector<std::string> told;
  TrainOptions options{.workers = 2};
  options.gradients = {200};
  const Advice advice = advise<double>(
      q, {.options = options, .world = VirtualWorld{}, .tell = [&](const std::string& line) {
            told.push_back(line);
          }});
  ASSERT_GT(told.size(), 3u);
  EXPECT_NE(told[0].find("measuring"), std::string::npos);
  EXPECT_NE(told[1].find("lr auto tries"), std::string::npos);
  EXPECT_EQ(told.size(), 1 + advice.practical.tried.size());
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
