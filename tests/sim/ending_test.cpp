#include "dasgd/sim/ending.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

namespace dasgd {
namespace {

TEST(Ending, TheFirstReasonCounts) {
  Ending ending;
  EXPECT_FALSE(ending.is_stopping());
  ending.stop(StopReason::budget);
  ending.stop(StopReason::max_time);
  EXPECT_TRUE(ending.is_stopping());
  EXPECT_EQ(ending.reason(), StopReason::budget);
  EXPECT_FALSE(ending.failure());
}

TEST(Ending, AFailureIsKeptAlsoOfARunThatStopsAnyway) {
  Ending ending;
  ending.stop(StopReason::budget);
  ending.fail(std::make_exception_ptr(std::runtime_error("first")), StopReason::failed);
  ending.fail(std::make_exception_ptr(std::logic_error("second")), StopReason::diverged);
  EXPECT_EQ(ending.reason(), StopReason::budget);
  EXPECT_THROW(std::rethrow_exception(ending.failure()), std::runtime_error);
}

TEST(Ending, ATargetIsReachedWhenAllWorkersHaveReachedIt) {
  Ending ending;
  ending.target_reached(2);
  EXPECT_FALSE(ending.is_stopping());
  ending.target_reached(2);
  EXPECT_EQ(ending.reason(), StopReason::target);
}

TEST(Ending, OnlyAnInterruptedRunIsGivenUpAndOnlyWhenMuchIsUnderWay) {
  for (const StopReason reason : {StopReason::interrupted, StopReason::budget}) {
    Ending ending;
    ending.worked(most_after_an_interrupt);
    ending.stop(reason);
    ending.worked(most_after_an_interrupt - 1);
    EXPECT_FALSE(ending.is_given_up()) << "what came before the stop does not count";
    ending.worked(1);
    EXPECT_EQ(ending.is_given_up(), reason == StopReason::interrupted);
  }
}

}  // namespace
}  // namespace dasgd
