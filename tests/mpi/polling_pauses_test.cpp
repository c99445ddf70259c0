#include "dasgd/transport/mpi/progress/polling_pauses.hpp"

#include <gtest/gtest.h>

namespace dasgd::mpi {
namespace {

using namespace std::chrono_literals;

constexpr PollingPauses::Time epoch{};

TEST(PollingPauses, BeginShortAndGrowWhileNothingMoves) {
  PollingPauses polling_pauses(false, epoch);
  EXPECT_FALSE(polling_pauses.pays(epoch + 10us));
  EXPECT_TRUE(polling_pauses.pays(epoch + 20us));
  EXPECT_EQ(polling_pauses.next(epoch + 20us, UnderWay::nothing), 10us);
  EXPECT_EQ(polling_pauses.next(epoch + 30us, UnderWay::nothing), 20us);
  EXPECT_EQ(polling_pauses.next(epoch + 50us, UnderWay::nothing), 40us);
  for (int k = 0; k < 20; ++k) polling_pauses.next(epoch + 1s, UnderWay::nothing);
  EXPECT_EQ(polling_pauses.next(epoch + 1s, UnderWay::nothing), 2ms);
  polling_pauses.moved(epoch + 1s);
  EXPECT_FALSE(polling_pauses.pays(epoch + 1s));
  EXPECT_EQ(polling_pauses.next(epoch + 1s + 20us, UnderWay::nothing), 10us);
}

TEST(PollingPauses, AreShortWhileALargeMessageIsUnderWay) {
  PollingPauses polling_pauses(false, epoch);
  for (int k = 0; k < 20; ++k) {
    EXPECT_LE(polling_pauses.next(epoch + 1s, UnderWay::large), 50us);
  }
  EXPECT_EQ(polling_pauses.next(epoch + 1s, UnderWay::small), 100us);
  for (int k = 0; k < 20; ++k) polling_pauses.next(epoch + 1s, UnderWay::small);
  EXPECT_EQ(polling_pauses.next(epoch + 1s, UnderWay::small), 500us);
}

TEST(PollingPauses, BeginAtAHundredthOfAGradient) {
  PollingPauses polling_pauses(false, epoch);
  PollingPauses::Time now = epoch;
  for (int k = 0; k < 100; ++k) polling_pauses.sent(now += 10ms);
  polling_pauses.moved(now);
  EXPECT_TRUE(polling_pauses.pays(now)) << "a long computation is not disturbed";
  EXPECT_NEAR(static_cast<double>(polling_pauses.next(now, UnderWay::small).count()), 100, 2);
  EXPECT_LE(polling_pauses.next(now, UnderWay::large), 50us)
      << "MPI moves its pieces only while it is called";
  for (int k = 0; k < 100; ++k) polling_pauses.sent(now += 100us);
  polling_pauses.moved(now);
  EXPECT_FALSE(polling_pauses.pays(now));
  EXPECT_EQ(polling_pauses.next(now + 20us, UnderWay::small), 10us);
}

TEST(PollingPauses, ComeLateToAnEagerThread) {
  PollingPauses polling_pauses(true, epoch);
  EXPECT_FALSE(polling_pauses.pays(epoch + 1999us));
  EXPECT_TRUE(polling_pauses.pays(epoch + 2ms));
  for (int k = 0; k < 20; ++k) {
    EXPECT_LE(polling_pauses.next(epoch + 1s, UnderWay::nothing), 50us);
  }
}

}  // namespace
}  // namespace dasgd::mpi
