#include "dasgd/lab/referee/page/first_rounds.hpp"

#include <algorithm>
#include <gmock/gmock.h>

#include "dasgd/lab/referee/page/curves.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/report/charts/svg_frame.hpp"

namespace dasgd {
namespace {

using ::testing::HasSubstr;

TEST(TheFirstRounds, ShowASlowWorkerOfEveryRivalAndEndWithThePicture) {
  constexpr Nanoseconds gradient = 1'000'000, window = 8 * gradient;
  const Quadratic problem = Quadratic::random(1);
  Contest contest;
  ContestWorld world{.name = "straggler:10",
                     .options = {.workers = 4, .batch = 0},
                     .world = {.compute = TimeModel::constant(gradient)}};
  world.options.slow.push_back({worker_id(3), 10});
  JudgedWorld judged{.name = world.name};
  for (const char* name : {"dasgd", "minibatch", "asgd", "local-sgd:H=4"}) {
    contest.rivals.push_back(choose_rival(name, all_rivals()));
    judged.rows.push_back({.rival = contest.rivals.back().label,
                           .eta = 1e-3,
                           .numbers = contest.rivals.back().numbers});
  }
  for (const FirstRounds& rounds : first_rounds(problem, contest, world, judged, {0, 1, 2, 3})) {
    const auto slow = std::find_if(rounds.spans.begin(), rounds.spans.end(),
                                   [](const ComputedSpan& span) { return span.worker == 3; });
    ASSERT_NE(slow, rounds.spans.end()) << rounds.rival;
    EXPECT_EQ(slow->begin, 0) << rounds.rival;
    EXPECT_EQ(slow->end, window) << rounds.rival;
    for (const ComputedSpan& span : rounds.spans) {
      EXPECT_LT(span.begin, window) << rounds.rival;
      EXPECT_LE(span.end, window) << rounds.rival;
    }
  }
}

TEST(TheFirstRounds, HaveTheColourOfTheirMethodAndArePaleWhereTheyWereWasted) {
  const std::string svg =
      time_lines("w", {{"dasgd", 0, {{0, 0, 10, false}}}, {"asgd", 3, {{0, 0, 10, true}}}}, 1);
  EXPECT_THAT(svg, HasSubstr(std::string("fill=\"") + svg::colours[0] + "\" stroke"));
  EXPECT_THAT(svg, HasSubstr(std::string("fill=\"") + svg::colours[3] + "\" opacity=\"0.35\""));
}

TEST(Drawn, HasOneOrderInAllWorlds) {
  const auto world = [](std::vector<double> medians) {
    JudgedWorld world;
    for (const char* name : {"asgd", "dasgd", "swift", "rennala"})
      world.rows.push_back({.rival = name});
    for (const double median : medians) world.judgements.push_back({.median = median});
    world.judgements[1].reference = true;
    return world;
  };
  EXPECT_EQ(drawn(world({4, 3, 2, 1})), (std::vector<std::size_t>{1, 0, 2, 3}));
  EXPECT_EQ(drawn(world({1, 2, 3, 4})), (std::vector<std::size_t>{1, 0, 2, 3}));
}

TEST(AccuracyCurves, LeaveOutTheLowestTenthWhereTheyBegin) {
  ContestRun run{.reached = true};
  for (int k = 1; k <= 20; ++k)
    run.curve.push_back({.time_s = 1.0 * k, .gradients = 8, .accuracy_mean = k < 3 ? 0.1 : 0.8});
  JudgedWorld world{.name = "w", .rows = {{.rival = "dasgd", .runs = {run}}}};
  world.judgements.resize(1);
  const PlotSeries series = curves_of(Contest{.seeds = 1}, world, 0).at(1).panels[0].series[0];
  EXPECT_EQ(series.x.front(), 3);
  EXPECT_EQ(series.y, std::vector<double>(18, 0.8));
  EXPECT_EQ(series.low.size(), 18u);
}

TEST(AccuracyCurves, LeaveOutTheModelOfTheStart) {
  ContestRun run{.reached = true};
  run.curve = {{.time_s = 0, .accuracy_mean = 0.1},
               {.time_s = 1, .gradients = 8, .accuracy_mean = 0.8},
               {.time_s = 2, .gradients = 16, .accuracy_mean = 0.85}};
  JudgedWorld world{.name = "w", .rows = {{.rival = "dasgd", .runs = {run}}}};
  world.judgements.resize(1);
  const auto pictures = curves_of(Contest{.seeds = 1}, world, 0);
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_EQ(pictures[0].panels[0].series[0].y.size(), 3u);
  EXPECT_EQ(pictures[1].panels[0].series[0].y, (std::vector<double>{0.8, 0.85}));
}

}  // namespace
}  // namespace dasgd
