// What a member shows of the others.
#include <gtest/gtest.h>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

// Long before it is no longer awaited, and without a look at the clock by anybody else.
TEST(View, WhoIsNotHeardOfIsSoonShownAsCutOff) {
  Said network;
  Protocol one(founder(), network);
  Peer other(one, LinkId{1}, {2, 2});
  other.report(true, 1);
  const Nanoseconds last = 1 + founder().patience.suspect;
  EXPECT_EQ(one.members(last).at(1).state, "here");
  EXPECT_EQ(one.members(last + 1).at(1).state, "cut off");
  EXPECT_EQ(one.members(last + 1).at(0).state, "here");
  other.report(true, last + 2);
  EXPECT_EQ(one.members(last + 2).at(1).state, "here");
}

}  // namespace
}  // namespace dasgd::elastic::test
