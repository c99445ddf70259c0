#include "dasgd/elastic/retention.hpp"

#include <gtest/gtest.h>

namespace dasgd::elastic::test {
namespace {

/// Four gradients of one origin, which came at the time of their number.
struct Kept : ::testing::Test {
  Kept() {
    for (std::uint32_t k = 0; k < 4; ++k) {
      const auto gradient = std::make_shared<Gradient>();
      gradient->name = {Membership::self, k};
      holdings.add_own(GradientPtr(gradient), k);
    }
  }
  static GradientSet range(std::uint32_t last) {
    GradientSet set;
    set.insert_range({Membership::self, 0, last});
    return set;
  }
  void collect(Nanoseconds now) { retention.drop_unneeded(holdings.log(), needs, now); }
  const GradientSet& left() const { return holdings.log().names(); }
  /// A copy of what is held, made for somebody who went.
  void copy(Nanoseconds now) {
    retention.want_copy();
    retention.begin_copy();
    retention.copied({holdings.names(), 4, nullptr}, holdings.log(), now);
  }

  const ProtocolOptions options{.dimension = 2};
  Roster roster;
  Membership members{{.origin = {1, 1}}, roster, {}};
  Holdings holdings{members};
  Retention retention{options};
  GradientSet two = range(2), three = range(3);
  std::vector<const GradientSet*> awaited{&two, &three};
  Retention::Needs needs{.awaited = awaited, .most_waiting = 8};
};

TEST_F(Kept, DropsWhatAllWhoAreAwaitedHave) {
  collect(10);
  EXPECT_EQ(left(), range(4).without(range(2)));
}

TEST_F(Kept, KeepsWhatIsNotInTheModelThatWasAskedFor) {
  const GradientSet one = range(1);
  needs.asked_for = &one;
  collect(10);
  EXPECT_EQ(left(), range(4).without(range(1)));
}

TEST_F(Kept, KeepsAllWhileLinksAreServedByModels) {
  needs.is_merging = true;
  collect(10);
  EXPECT_EQ(left(), range(4));
  needs.most_waiting = 1;  // the log is long: after a while it gets shorter all the same
  collect(10 + options.merging() - 1);
  EXPECT_EQ(left(), range(4));
  collect(10 + options.merging());
  EXPECT_EQ(left(), range(4).without(range(2)));
}

TEST_F(Kept, KeepsWhatMayBeOnEitherSideOfACopy) {
  copy(10);
  collect(10 + 2 * options.patience.gone);
  EXPECT_EQ(left(), range(4));
  needs.is_full = true;  // memory comes first
  collect(10 + 2 * options.patience.gone);
  EXPECT_EQ(left(), range(4).without(range(2)));
}

TEST_F(Kept, WaitsForACopyFromTheWishToTheModel) {
  EXPECT_FALSE(retention.waits_for_copy());
  retention.want_copy();
  EXPECT_TRUE(retention.waits_for_copy());
  retention.begin_copy();
  EXPECT_FALSE(retention.wants_copy());
  EXPECT_TRUE(retention.waits_for_copy());
  retention.copied({holdings.names(), 4, nullptr}, holdings.log(), 5);
  EXPECT_FALSE(retention.waits_for_copy());
  EXPECT_EQ(retention.copies().models().size(), 1u);
}

TEST_F(Kept, MakesNoCopyThatNobodyWants) {
  retention.begin_copy();
  retention.copied({}, holdings.log(), 5);
  EXPECT_TRUE(retention.copies().empty());
}

TEST_F(Kept, TheLastCopyWillDoWhereTheLogHasTheRest) {
  copy(10);
  retention.want_copy();
  retention.use_last_copy(holdings, 11);
  EXPECT_FALSE(retention.wants_copy());
  EXPECT_EQ(retention.copies().models().size(), 1u);
}

TEST_F(Kept, ForgetsCopiesOnceAllHasBeenSettledForLong) {
  copy(10);
  const Nanoseconds later = 10 + options.await_strangers();
  retention.drop_old_copies(false, later);
  EXPECT_FALSE(retention.copies().empty());
  retention.drop_old_copies(true, later);
  retention.drop_old_copies(false, later + 1);
  EXPECT_FALSE(retention.copies().empty());
  retention.drop_old_copies(false, later + 1 + options.await_strangers());
  EXPECT_TRUE(retention.copies().empty());
}

TEST_F(Kept, RemembersTheModelsAroundAnAdoption) {
  retention.remember({range(2), 2, nullptr}, {range(4), 4, nullptr}, range(4), 5);
  EXPECT_EQ(retention.copies().models().size(), 2u);
  retention.keep_within(range(3));  // some names were given up
  EXPECT_EQ(retention.copies().models().size(), 1u);
}

TEST_F(Kept, CollectsNowAndThen) {
  retention.begin(10);
  EXPECT_FALSE(retention.is_due(9 + options.collect_every()));
  EXPECT_TRUE(retention.is_due(10 + options.collect_every()));
}

}  // namespace
}  // namespace dasgd::elastic::test
