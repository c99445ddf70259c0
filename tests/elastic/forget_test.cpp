// `dasgd forget` and whom it cannot be said of.
#include <gtest/gtest.h>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

struct Forgotten : ::testing::Test {
  Said network;
  Protocol one{founder(), network};
  const Origin first{2, 2};
  Peer peer{one, LinkId{1}, first, "", "peer"};
};

TEST_F(Forgotten, ANameThatNobodyHasIsNamed) {
  EXPECT_EQ(one.forget("nobody", 1), "no member has the name or origin \"nobody\"");
}

TEST_F(Forgotten, WhoIsHereOrThisMemberItselfIsNot) {
  peer.report(true, 1);
  EXPECT_EQ(one.forget("peer", 2), "peer is here: only a silent member can be forgotten");
  EXPECT_EQ(one.forget("one", 2), "one is this member itself; use dasgd leave");
}

TEST_F(Forgotten, WhoIsDeadIsNotAgain) {
  peer.report(true, 1);
  one.lost(peer.link, 2);
  EXPECT_EQ(one.forget("peer", 3), "");
  EXPECT_EQ(one.members(4).at(1).state, "dead");
  EXPECT_EQ(one.forget("peer", 5), "peer is already dead");
  EXPECT_EQ(one.forget(first.text(), 5), first.text() + " is already dead");
}

TEST_F(Forgotten, WhoHasLeftIsNot) {
  peer.report(true, 1);
  peer.say(Goodbye{}, 2);
  EXPECT_EQ(one.forget("peer", 3), "peer has left");
}

}  // namespace
}  // namespace dasgd::elastic::test
