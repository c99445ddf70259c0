#include "dasgd/runtime/paced.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using Time = Pace::Time;

/// A clock that only work and sleeps move, and a bed in which one oversleeps.
class Bed {
 public:
  explicit Bed(std::vector<Time> overslept) : overslept_(std::move(overslept)) {}

  void work(Pace& pace, Time took) {
    now_ += took;
    pace.rest_after(
        took, [this] { return now_; },
        [this](Time rest) {
          asked.push_back(rest);
          now_ += rest + overslept_[asked.size() % overslept_.size()];
        });
  }
  Time now() const { return now_; }
  /// How long a piece of work took with its rest.
  Time work_and_rest(Pace& pace, Time took) {
    const Time before = now_;
    work(pace, took);
    return now_ - before;
  }

  std::vector<Time> asked;

 private:
  const std::vector<Time> overslept_;
  Time now_{0};
};

TEST(Pace, PadsAndStretchesWithATimerThatIsExact) {
  Bed bed({0ms});
  Pace padded(1, 5ms), stretched(10, 0ms), both(10, 5ms);
  bed.work(padded, 2ms);
  bed.work(padded, 7ms);
  bed.work(stretched, 2ms);
  bed.work(both, 2ms);
  EXPECT_EQ(bed.asked, (std::vector<Time>{3ms, 18ms, 48ms}));
}

TEST(Pace, AddsATimeToTheOwnOneAsThePaperDoes) {
  Bed bed({0ms});
  Pace added(1, 50ms, true), slow(10, 50ms, true);
  bed.work(added, 30ms);
  bed.work(added, 0ms);
  bed.work(slow, 30ms);
  EXPECT_EQ(bed.asked, (std::vector<Time>{50ms, 50ms, 770ms}));
  EXPECT_TRUE(Pace(1, 1ms, true).changes_anything());
  EXPECT_FALSE(Pace(1, 0ms, true).changes_anything());
}

TEST(Pace, ChangesNothingWhereNothingIsAsked) {
  EXPECT_FALSE(Pace(1, 0ms).changes_anything());
  EXPECT_TRUE(Pace(2, 0ms).changes_anything());
  EXPECT_TRUE(Pace(1, 1ms).changes_anything());
}

TEST(Pace, WhatOneSleepIsTooLongTheNextGivesBack) {
  Bed bed({6ms});
  Pace pace(3, 0ms);
  for (int k = 0; k < 4; ++k) bed.work(pace, 1ms);
  EXPECT_EQ(bed.asked, std::vector<Time>{2ms}) << "12 ms are four times 3, without another sleep";
  EXPECT_EQ(bed.now(), 12ms);
  bed.work(pace, 1ms);
  EXPECT_EQ(bed.asked, (std::vector<Time>{2ms, 2ms}));
}

TEST(Pace, APaddedGradientTakesAtLeastThatTimeHoweverLateTheOneBeforeWas) {
  for (const double factor : {1., 3.}) {
    Bed bed({0ms, 13ms, 1ms});
    Pace padded(factor, 5ms);
    for (int k = 0; k < 9; ++k) EXPECT_GE(bed.work_and_rest(padded, 2ms), 5ms);
  }
}

TEST(Pace, AnAddedTimeIsAddedToEachGradientHoweverLateTheOneBeforeWas) {
  for (const double factor : {1., 3.}) {
    Bed bed({0ms, 13ms, 1ms});
    Pace added(factor, 5ms, true);
    for (int k = 0; k < 9; ++k) EXPECT_GE(bed.work_and_rest(added, 2ms), 7ms);
  }
}

TEST(Pace, KeepsItsAverageWithTimersThatAreLate) {
  for (const std::vector<Time>& overslept :
       {std::vector<Time>{6ms}, {0ms, 13ms, 1ms}, {100us, 200us, 50ms}}) {
    Bed bed(overslept);
    Pace pace(10, 2ms);
    for (int k = 0; k < 1000; ++k) bed.work(pace, 1ms);
    EXPECT_GE(bed.now(), 1000 * 20ms);
    EXPECT_LE(bed.now(), 1000 * 20ms + 50ms) << "no more than the last sleep was too long";
  }
}

TEST(Pace, WorkThatIsSlowerThanItsPaceIsNotMadeUpFor) {
  Bed bed({0ms});
  Pace pace(1, 5ms);
  bed.work(pace, 100ms);
  bed.work(pace, 1ms);
  EXPECT_EQ(bed.asked, std::vector<Time>{4ms});
}

TEST(Pace, AMachineThatWasAsleepIsNotMadeUpFor) {
  Bed bed({3600s, 0ms});
  Pace pace(10, 0ms);
  bed.work(pace, 10ms);  // exact
  bed.work(pace, 10ms);  // an hour
  for (int k = 0; k < 11; ++k) bed.work(pace, 10ms);
  EXPECT_EQ(bed.asked.size(), 2u) << "one second is given back, 90 ms at a time";
  bed.work(pace, 10ms);
  EXPECT_EQ(bed.asked.size(), 3u);
}

TEST(Pace, ASleepThatAStopEndsIsNoReasonToSleepMore) {
  Pace pace(1, 10ms);
  std::vector<Time> asked;
  for (int k = 0; k < 2; ++k)
    pace.rest_after(
        0ms, [] { return Time(0); }, [&](Time rest) { asked.push_back(rest); });
  EXPECT_EQ(asked, (std::vector<Time>{10ms, 10ms}));
}

}  // namespace
}  // namespace dasgd
