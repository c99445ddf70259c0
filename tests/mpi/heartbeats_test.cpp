#include "dasgd/transport/mpi/progress/heartbeats.hpp"

#include <gtest/gtest.h>

#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd::mpi {
namespace {

using namespace std::chrono_literals;

constexpr Heartbeats::Time start{};

TEST(Heartbeats, BeatsOnceASecond) {
  Heartbeats life(2, 8s, start);
  EXPECT_TRUE(life.is_time(start));
  EXPECT_FALSE(life.is_time(start + 999ms));
  EXPECT_TRUE(life.is_time(start + 1s));
  EXPECT_FALSE(life.is_time(start + 1s));
}

TEST(Heartbeats, ARankThatIsSilentForTooLongIsNamed) {
  Heartbeats life(3, 2s, start);
  for (auto t = 0ms; t <= 2500ms; t += 500ms) {
    life.is_time(start + t);
    life.hear(1, start + t);
  }
  EXPECT_NO_THROW(life.require(1, start + 2500ms));
  EXPECT_NO_THROW(life.require(2, start + 2s)) << "not for longer than two seconds";
  try {
    life.require(2, start + 2500ms);
    FAIL();
  } catch (const MpiError& error) {
    EXPECT_STREQ(error.what(),
                 "rank 2 has been silent for 2 s: it died or its machine is unreachable");
  }
}

TEST(Heartbeats, SilenceMeansNothingToWhoWasAsleepItself) {
  Heartbeats life(2, 2s, start);
  life.is_time(start);
  life.is_time(start + 60s);
  EXPECT_NO_THROW(life.require(1, start + 61s));
}

}  // namespace
}  // namespace dasgd::mpi
