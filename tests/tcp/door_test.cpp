#include "dasgd/transport/tcp/door.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dasgd::tcp {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;
using ::testing::HasSubstr;
using ::testing::Not;

const Door::Time start{1h};

int admitted(Door& door, const std::string& address, int tries, Door::Time now) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += door.admits(make_address(address), now) ? 1 : 0;
  return count;
}

TEST(DoorTest, AdmitsTwiceTheRateAtOnceAndThenTheRate) {
  Door door(50, 1);
  EXPECT_EQ(admitted(door, "10.0.0.1", 1000, start), 100);
  EXPECT_EQ(admitted(door, "10.0.0.1", 1000, start + 1s), 50);
  EXPECT_EQ(admitted(door, "10.0.0.1", 1000, start + 1h), 100);
}

TEST(DoorTest, OneAddressDoesNotCloseItForAnother) {
  Door door(50, 1);
  admitted(door, "10.0.0.1", 1000, start);
  EXPECT_EQ(admitted(door, "10.0.0.2", 10, start), 10);
}

TEST(DoorTest, ANetworkOfIPv6IsOneAddress) {
  Door door(50, 1);
  admitted(door, "2001:db8::1", 1000, start);
  EXPECT_EQ(admitted(door, "2001:db8::2", 10, start), 0);
  EXPECT_EQ(admitted(door, "2001:db8:0:1::2", 10, start), 10);
  admitted(door, "10.0.0.1", 1000, start);
  EXPECT_EQ(admitted(door, "::ffff:10.0.0.1", 10, start), 0);
}

TEST(DoorTest, TellsTheFirstFewAndThenOnceAMinute) {
  Door door(50, 1);
  int lines = 0;
  for (int i = 0; i < 1000; ++i) lines += door.turned_away("x", "y", start) ? 1 : 0;
  EXPECT_EQ(lines, 8);
  EXPECT_EQ(door.turned_away("x", "y", start + 59s), std::nullopt);
  EXPECT_THAT(door.turned_away("10.0.0.1:5", "why", start + 61s).value(),
              HasSubstr("refused 10.0.0.1:5: why (1002 so far"));
}

}  // namespace
}  // namespace dasgd::tcp
