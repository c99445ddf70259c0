#include "dasgd/lab/referee/page/profile.hpp"

#include <gtest/gtest.h>

namespace dasgd {
namespace {

ContestRow timed(const std::string& rival, const std::vector<double>& times) {
  ContestRow row{.rival = rival};
  for (const double time : times) {
    ContestRun& run = row.runs.emplace_back();
    run.reached = time > 0;
    run.time_s = time;
  }
  return row;
}

JudgedWorld world_of(std::vector<ContestRow> rows, const std::vector<double>& medians) {
  JudgedWorld world{.rows = std::move(rows)};
  for (const double median : medians) world.judgements.push_back({.median = median});
  return world;
}

TEST(Profile, IsTheShareOfRunsWithinAMultipleOfTheFastestMedian) {
  const std::vector<JudgedWorld> worlds{
      world_of({timed("dasgd", {2, 2}), timed("asgd", {1, 1})}, {2, 1}),
      world_of({timed("dasgd", {5, 0}), timed("asgd", {20, 40})}, {5, 30})};
  const auto profiles = profiles_of(worlds);
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0].share_within(1), 0.25);  // one of its runs in the second world
  EXPECT_EQ(profiles[0].share_within(2), 0.75);
  EXPECT_EQ(profiles[0].share_within(100), 0.75);  // one never arrives
  EXPECT_EQ(profiles[1].share_within(1), 0.5);
  EXPECT_EQ(profiles[1].share_within(4), 0.75);
  EXPECT_EQ(profiles[1].share_within(8), 1);
  const auto panel = profile_panel(worlds);
  ASSERT_TRUE(panel);
  EXPECT_EQ(panel->series[0].name, "dasgd");
  EXPECT_EQ(panel->series[1].y.back(), 1);
  EXPECT_FALSE(profile_panel({worlds[0]}));
}

}  // namespace
}  // namespace dasgd
