#include "dasgd/transport/mpi/progress/naps.hpp"

#include <gtest/gtest.h>

namespace dasgd::mpi {
namespace {

using namespace std::chrono_literals;

constexpr Naps::Time epoch{};

TEST(Naps, BeginShortAndGrowWhileNothingMoves) {
  Naps naps(false, epoch);
  EXPECT_FALSE(naps.pays(epoch + 10us));
  EXPECT_TRUE(naps.pays(epoch + 20us));
  EXPECT_EQ(naps.next(epoch + 20us, UnderWay::nothing), 10us);
  EXPECT_EQ(naps.next(epoch + 30us, UnderWay::nothing), 20us);
  EXPECT_EQ(naps.next(epoch + 50us, UnderWay::nothing), 40us);
  for (int k = 0; k < 20; ++k) naps.next(epoch + 1s, UnderWay::nothing);
  EXPECT_EQ(naps.next(epoch + 1s, UnderWay::nothing), 2ms);
  naps.moved(epoch + 1s);
  EXPECT_FALSE(naps.pays(epoch + 1s));
  EXPECT_EQ(naps.next(epoch + 1s + 20us, UnderWay::nothing), 10us);
}

TEST(Naps, AreShortWhileALargeMessageIsUnderWay) {
  Naps naps(false, epoch);
  for (int k = 0; k < 20; ++k) {
    EXPECT_LE(naps.next(epoch + 1s, UnderWay::large), 50us);
  }
  EXPECT_EQ(naps.next(epoch + 1s, UnderWay::small), 100us);
  for (int k = 0; k < 20; ++k) naps.next(epoch + 1s, UnderWay::small);
  EXPECT_EQ(naps.next(epoch + 1s, UnderWay::small), 500us);
}

TEST(Naps, BeginAtAHundredthOfAGradient) {
  Naps naps(false, epoch);
  Naps::Time now = epoch;
  for (int k = 0; k < 100; ++k) naps.sent(now += 10ms);
  naps.moved(now);
  EXPECT_TRUE(naps.pays(now)) << "who computes for long is not disturbed";
  EXPECT_NEAR(static_cast<double>(naps.next(now, UnderWay::small).count()), 100, 2);
  EXPECT_LE(naps.next(now, UnderWay::large), 50us)
      << "MPI moves its pieces only while it is called";
  for (int k = 0; k < 100; ++k) naps.sent(now += 100us);
  naps.moved(now);
  EXPECT_FALSE(naps.pays(now));
  EXPECT_EQ(naps.next(now + 20us, UnderWay::small), 10us);
}

TEST(Naps, ComeLateToAnEagerThread) {
  Naps naps(true, epoch);
  EXPECT_FALSE(naps.pays(epoch + 1999us));
  EXPECT_TRUE(naps.pays(epoch + 2ms));
  for (int k = 0; k < 20; ++k) {
    EXPECT_LE(naps.next(epoch + 1s, UnderWay::nothing), 50us);
  }
}

}  // namespace
}  // namespace dasgd::mpi
