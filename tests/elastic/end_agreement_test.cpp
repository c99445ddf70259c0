// The agreement on the end by itself: the test is all other members.
#include "dasgd/elastic/end_agreement.hpp"

#include <gtest/gtest.h>

namespace dasgd::elastic::test {
namespace {

using Step = EndAgreement::Step;

struct Agreement : ::testing::Test {
  Agreement() { members.me().joined = true; }

  /// A member that is here.
  WorkerId meet(Origin origin) {
    const WorkerId member = roster.number(origin);
    members.grow();
    members[member].record.origin = origin;
    members.heard_from(member, 1);
    return member;
  }
  void says_stopped(WorkerId member, const GradientSet& with) {
    members[member].record.stopped = true;
    members[member].record.names = roster.hash(with);
  }
  Step settle(Nanoseconds now = 1) { return end.settle(holding, now); }
  /// Up to the announcement that this member is ready.
  void get_ready() {
    end.begin(StopReason::asked, 1);
    end.stop(1);
    says_stopped(other, held);
    ASSERT_EQ(settle(), Step::announce);
  }
  Parcel gradient_of(WorkerId origin) {
    const auto gradient = std::make_shared<Gradient>();
    gradient->name = {origin, 0};
    return GradientPtr(gradient);
  }

  ProtocolOptions options;
  Roster roster;
  Membership members{{.origin = {1, 1}, .name = "one"}, roster, options.patience};
  EndAgreement end{options, members, roster};
  GradientSet held;
  bool others_have_it = false;
  Takeover takeover{options, members};
  EndAgreement::Holding holding{held, takeover,
                                [this](const GradientSet&) { return others_have_it; }};
  const WorkerId other = meet({2, 2});
};

TEST_F(Agreement, EndsOnceAllHaveStoppedAndAreReadyWithTheSameNames) {
  get_ready();
  EXPECT_TRUE(end.is_ready());
  EXPECT_EQ(settle(), Step::wait);
  EXPECT_FALSE(end.is_over());
  members[other].record.ready = members.me().ready;
  EXPECT_EQ(settle(), Step::over);
  EXPECT_TRUE(end.is_over());
  EXPECT_TRUE(end.has_agreed());
  EXPECT_TRUE(members.me().ended);
}

TEST_F(Agreement, WaitsForTheWorkerAndForWhatIsStillToBeAdopted) {
  end.begin(StopReason::asked, 1);
  says_stopped(other, held);
  EXPECT_EQ(settle(), Step::wait);
  end.stop(1);
  const Takeover::Giver giver{LinkId{1}, other, &held, true};
  members.me().joined = false;  // so that it asks
  ASSERT_TRUE(takeover.ask({&giver, 1}, held, false, 1));
  EXPECT_EQ(settle(), Step::wait);
  takeover.offer({}, other, 1);
  EXPECT_EQ(settle(), Step::wait);
  takeover.withdraw();
  EXPECT_EQ(settle(), Step::announce);
}

TEST_F(Agreement, BeginsByItselfOnceNobodyHasSamplesLeft) {
  end.stop(1);
  EXPECT_EQ(settle(), Step::wait);
  says_stopped(other, held);
  EXPECT_EQ(settle(), Step::begin);
  EXPECT_TRUE(end.begin(StopReason::samples, 1));
  EXPECT_FALSE(end.begin(StopReason::asked, 1));
  EXPECT_EQ(end.ending(), StopReason::samples);
  EXPECT_EQ(settle(), Step::announce);
}

TEST_F(Agreement, TakesInWhatItHeldBackWhereOneItCountedOnHoldsSomethingElse) {
  get_ready();
  EXPECT_TRUE(end.admits_nothing());
  end.hold_back(gradient_of(other));
  GradientSet more;
  more.insert({other, 0});
  says_stopped(other, more);
  EXPECT_EQ(settle(), Step::reopen);
  EXPECT_EQ(end.reopen().size(), 1u);
  EXPECT_FALSE(end.admits_nothing());
  EXPECT_EQ(settle(), Step::wait);
  held = more;
  EXPECT_EQ(settle(), Step::announce);
}

TEST_F(Agreement, DoesNotGoBackForOneThatCameLater) {
  get_ready();
  const WorkerId late = meet({3, 3});
  members[other].record.ready = members.me().ready;
  EXPECT_EQ(settle(), Step::over);
  EXPECT_FALSE(members[late].record.stopped);
}

TEST_F(Agreement, DoesNotWaitForEverForOneThatComputes) {
  end.begin(StopReason::asked, 0);
  end.stop(0);
  EXPECT_EQ(settle(options.await_stop() - 1), Step::wait);
  EXPECT_EQ(settle(options.await_stop()), Step::announce);
  EXPECT_EQ(settle(options.await_stop()), Step::over);
}

TEST_F(Agreement, NeedsNobodyElseOnceOneHasEndedWithTheSameNames) {
  meet({3, 3});
  end.begin(StopReason::asked, 1);
  end.stop(1);
  members[other].record.names = roster.hash(held);
  members.set_state(other, MemberState::ended, 1);
  EXPECT_EQ(settle(), Step::over);
  EXPECT_TRUE(end.has_agreed());
}

TEST_F(Agreement, DoesNotAgreeWhereOthersEndedWithoutItsGradients) {
  get_ready();
  end.miss(3);
  end.miss(2);
  EXPECT_EQ(end.too_late(), 3u);
  members[other].record.ready = members.me().ready;
  EXPECT_EQ(settle(), Step::over);
  EXPECT_FALSE(end.has_agreed());
}

TEST_F(Agreement, AMemberThatLeavesWaitsUntilOthersHaveWhatItHeld) {
  end.leave();
  end.stop(0);
  EXPECT_EQ(settle(options.patience.gone - 1), Step::wait);
  others_have_it = true;
  EXPECT_EQ(settle(options.patience.gone - 1), Step::over);
  EXPECT_TRUE(members.me().left);
  EXPECT_FALSE(end.has_agreed());
}

TEST_F(Agreement, AMemberThatLeavesDoesNotWaitForEver) {
  end.leave();
  end.stop(0);
  EXPECT_EQ(settle(options.patience.gone), Step::over);
}

TEST_F(Agreement, WaitsForDigestsOfThoseWhoEndedWithTheSameNames) {
  get_ready();
  members[other].record.ready = members.me().ready;
  ASSERT_EQ(settle(), Step::over);
  end.compare({5, 6}, 2);
  EXPECT_FALSE(end.has_compared(held, 2));
  EXPECT_TRUE(end.has_compared(held, 3 + options.await_digests()));
  members[other].record.digest = {7, 8};
  EXPECT_TRUE(end.has_compared(held, 2));
}

TEST_F(Agreement, OneThatCannotJoinIsOver) {
  end.give_up("this is another run");
  EXPECT_TRUE(end.is_over());
  EXPECT_EQ(end.could_not_join(), "this is another run");
}

}  // namespace
}  // namespace dasgd::elastic::test
