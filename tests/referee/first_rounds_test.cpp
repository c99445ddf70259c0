#include "dasgd/lab/referee/page/first_rounds.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd {
namespace {

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

}  // namespace
}  // namespace dasgd
