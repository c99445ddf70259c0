#include "dasgd/runtime/control.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace dasgd {
namespace {

using std::chrono::hours;
using Clock = std::chrono::steady_clock;

std::exception_ptr failure(const char* what) {
  return std::make_exception_ptr(std::runtime_error(what));
}

std::string words(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(Control, TheFirstReasonCountsAndWakesOnce) {
  int woken = 0;
  Control control([&] { ++woken; });
  EXPECT_FALSE(control.stopping());
  EXPECT_FALSE(control.reason());
  control.stop(StopReason::target);
  control.stop(StopReason::max_time);
  EXPECT_TRUE(control.stopping());
  EXPECT_TRUE(control.stop_flag().load());
  EXPECT_EQ(control.reason(), StopReason::target);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(control.failure(), nullptr);
}

TEST(Control, TheFirstFailureCountsAndStopsTheRun) {
  Control control([] {});
  control.fail(failure("first"), StopReason::diverged);
  control.fail(failure("second"));
  EXPECT_EQ(control.reason(), StopReason::diverged);
  EXPECT_EQ(words(control.failure()), "first");
  EXPECT_FALSE(control.abandoned()) << "it is still drained";
}

TEST(Control, AFailureAfterAStopIsKept) {
  Control control([] {});
  control.stop(StopReason::interrupted);
  control.fail(failure("the disk"));
  EXPECT_EQ(control.reason(), StopReason::interrupted);
  EXPECT_EQ(words(control.failure()), "the disk");
}

TEST(Control, ARunThatIsAbandonedWakesWhoeverWaitsAgain) {
  int woken = 0;
  Control control([&] { ++woken; });
  control.stop(StopReason::target);
  control.abandon(failure("no memory"));
  EXPECT_TRUE(control.abandoned());
  EXPECT_EQ(woken, 2) << "workers that drain must look again";
}

TEST(Control, AStopEndsSleeps) {
  Control control([] {});
  std::jthread sleeper([&] { control.sleep_for(hours(1)); });
  control.stop(StopReason::interrupted);
  sleeper.join();
  control.sleep_for(hours(1));  // and there are none afterwards
}

TEST(Control, SleepsEndWhenNothingMoreIsToBeComputed) {
  Control control([] {});
  std::jthread sleeper([&] { control.sleep_for(hours(1)); });
  control.end_sleeps();
  sleeper.join();
  EXPECT_FALSE(control.stopping());
}

TEST(Control, WaitsForAllWorkersOrTheLimit) {
  Control control([] {});
  EXPECT_FALSE(control.wait_finished(2, Clock::now()));
  control.worker_finished();
  EXPECT_FALSE(control.wait_finished(2, Clock::now()));
  std::jthread last([&] { control.worker_finished(); });
  EXPECT_TRUE(control.wait_finished(2, Clock::now() + hours(1)));
}

}  // namespace
}  // namespace dasgd
