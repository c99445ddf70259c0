#include "dasgd/transport/tcp/connection_limiter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dasgd::tcp {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;
using ::testing::HasSubstr;
using ::testing::Not;

const ConnectionLimiter::Time start{1h};

int admitted(ConnectionLimiter& connection_limiter, const std::string& address, int tries,
             ConnectionLimiter::Time now) {
  int count = 0;
  for (int i = 0; i < tries; ++i)
    count += connection_limiter.admits(make_address(address), now) ? 1 : 0;
  return count;
}

TEST(ConnectionLimiterTest, AdmitsTwiceTheRateAtOnceAndThenTheRate) {
  ConnectionLimiter connection_limiter(50, 1);
  EXPECT_EQ(admitted(connection_limiter, "10.0.0.1", 1000, start), 100);
  EXPECT_EQ(admitted(connection_limiter, "10.0.0.1", 1000, start + 1s), 50);
  EXPECT_EQ(admitted(connection_limiter, "10.0.0.1", 1000, start + 1h), 100);
}

TEST(ConnectionLimiterTest, OneAddressDoesNotCloseItForAnother) {
  ConnectionLimiter connection_limiter(50, 1);
  admitted(connection_limiter, "10.0.0.1", 1000, start);
  EXPECT_EQ(admitted(connection_limiter, "10.0.0.2", 10, start), 10);
}

TEST(ConnectionLimiterTest, ANetworkOfIPv6IsOneAddress) {
  ConnectionLimiter connection_limiter(50, 1);
  admitted(connection_limiter, "2001:db8::1", 1000, start);
  EXPECT_EQ(admitted(connection_limiter, "2001:db8::2", 10, start), 0);
  EXPECT_EQ(admitted(connection_limiter, "2001:db8:0:0:ff00::1", 10, start), 0);
  EXPECT_EQ(admitted(connection_limiter, "2001:db8:0:1::2", 10, start), 10);
  admitted(connection_limiter, "10.0.0.1", 1000, start);
  EXPECT_EQ(admitted(connection_limiter, "::ffff:10.0.0.1", 10, start), 0);
}

TEST(ConnectionLimiterTest, ReportsTheFirstFewAndThenOnceAMinute) {
  ConnectionLimiter connection_limiter(50, 1);
  int lines = 0;
  for (int i = 0; i < 1000; ++i) lines += connection_limiter.refused("x", "y", start) ? 1 : 0;
  EXPECT_EQ(lines, 8);
  EXPECT_EQ(connection_limiter.refused("x", "y", start + 59s), std::nullopt);
  EXPECT_THAT(connection_limiter.refused("10.0.0.1:5", "why", start + 61s).value(),
              HasSubstr("refused 10.0.0.1:5: why (1002 so far"));
}

}  // namespace
}  // namespace dasgd::tcp
