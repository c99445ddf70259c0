#include "dasgd/elastic/holdings.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace dasgd::elastic::test {
namespace {

struct Held : ::testing::Test {
  Held() {
    members.grow();
    members.heard_from(other, 1);
  }
  static GradientPtr gradient(WorkerId origin, std::uint32_t sequence, std::uint64_t samples = 1) {
    const auto made = std::make_shared<Gradient>();
    made->name = {origin, sequence};
    made->samples = static_cast<decltype(made->samples)>(samples);
    return made;
  }

  Roster roster;
  Membership members{{.origin = {1, 1}}, roster, {}};
  const WorkerId other = roster.number({2, 2});
  Holdings holdings{members};
};

TEST_F(Held, WhatIsAddedCanBeSentAndIsNotNewAnyMore) {
  EXPECT_TRUE(holdings.is_new(gradient(other, 0)));
  holdings.add(gradient(other, 0), 5, false);
  EXPECT_FALSE(holdings.is_new(gradient(other, 0)));
  EXPECT_TRUE(holdings.names().contains({other, 0}));
  EXPECT_TRUE(holdings.log().has_all_of(holdings.names()));
  EXPECT_EQ(holdings.announced(other), 1u);
}

TEST_F(Held, ABundleIsNewOnlyAsAWhole) {
  holdings.add(gradient(other, 1), 5, false);
  std::vector<GradientFacts> facts(2);
  facts[0].name = {other, 0};
  facts[1].name = {other, 1};
  const auto bundle = std::make_shared<const Bundle>(std::move(facts), NumberFormat::of_float, 8);
  EXPECT_FALSE(holdings.is_new(BundlePtr(bundle)));
}

// What a relay that is dead now has summed: the others of the sum may be alive, or here.
TEST_F(Held, OfASumWhatIsHeldIsTakenOff) {
  const auto update = [](std::uint32_t sequence, std::int32_t value) {
    const auto made = std::make_shared<Gradient>();
    made->name = {WorkerId{1}, sequence};
    made->update.resize<float>(2);
    for (std::int32_t& number : made->update.numbers<float>()) number = value;
    return GradientPtr(made);
  };
  const std::vector<GradientPtr> all{update(0, 3), update(1, -5), update(2, 7)};
  const auto sum = std::make_shared<Bundle>();
  sum->add(all);
  EXPECT_FALSE(holdings.rest_of(BundlePtr(std::make_shared<Bundle>())));
  holdings.add(all[1], 5, false);
  const Parcel rest = holdings.rest_of(BundlePtr(sum));
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_TRUE(holdings.is_new(rest));
  Bundle expected;
  expected.add(std::vector{all[0], all[2]});
  EXPECT_TRUE(std::ranges::equal(rest.numbers(), std::as_const(expected).bytes()));
  holdings.add(rest, 6, true);
  EXPECT_FALSE(holdings.rest_of(BundlePtr(sum)));  // all of it is here
  EXPECT_FALSE(holdings.rest_of(all[0]));
}

TEST_F(Held, OfASumWhatIsHeldInAnotherSumIsNotTakenOff) {
  std::vector<GradientFacts> facts(2), overlapping(2);
  facts[0].name = overlapping[0].name = {other, 0};
  facts[1].name = {other, 1};
  overlapping[1].name = {other, 2};
  const auto bundle = [](std::vector<GradientFacts> of) {
    return BundlePtr(std::make_shared<Bundle>(std::move(of), NumberFormat::of_float, 16));
  };
  holdings.add(bundle(facts), 5, false);
  EXPECT_FALSE(holdings.rest_of(bundle(overlapping)));
}

// Gradients that are on their way count: others have spent the budget on them.
TEST_F(Held, TheBudgetCountsWhatMembersHereHaveComputed) {
  const Budget budget{.gradients = 10};
  holdings.add_own(gradient(Membership::self, 0), 1);
  EXPECT_EQ(holdings.budget_left(budget), 9u);
  holdings.note(other, 4);
  EXPECT_EQ(holdings.budget_left(budget), 5u);
  holdings.add(gradient(other, 0), 2, true);
  EXPECT_EQ(holdings.budget_left(budget), 5u);
  members.set_state(other, MemberState::dead, 3);  // its others will not come
  holdings.count_missing();
  EXPECT_EQ(holdings.budget_left(budget), 8u);
}

TEST_F(Held, ABudgetOfSamplesIsCountedInGradientsOfTheUsualSize) {
  holdings.add_own(gradient(Membership::self, 0, 8), 1);
  EXPECT_EQ(holdings.budget_left({.samples = 24}), 2u);
  EXPECT_EQ(holdings.budget_left({.samples = 25}), 3u);
  EXPECT_EQ(holdings.budget_left({.samples = 8}), 0u);
}

TEST_F(Held, AQuarterOfTheBudgetMayBeUnreportedByAllTogether) {
  EXPECT_EQ(holdings.most_unreported({.gradients = 80}), 10u);
  EXPECT_EQ(holdings.most_unreported({.gradients = 0}), 1u);
}

TEST_F(Held, WhatWasHeardOfAndIsNeitherHeldNorAbandonedIsMissing) {
  GradientSet theirs, abandoned;
  theirs.insert_range({other, 0, 4});
  theirs.insert({other, 6});
  abandoned.insert({other, 1});
  holdings.note(theirs);
  holdings.add(gradient(other, 0), 1, true);
  EXPECT_EQ(holdings.missing_beside(abandoned), (std::vector<std::uint64_t>{0, 5}));
}

TEST_F(Held, AnAdoptionReplacesWhatIsHeld) {
  holdings.add(gradient(other, 3), 1, true);
  Adoption adoption;
  adoption.names.insert_range({other, 0, 3});
  adoption.samples = 3;
  adoption.abandoned.insert({other, 3});
  holdings.adopt(adoption);
  EXPECT_EQ(holdings.names(), adoption.names);
  EXPECT_EQ(holdings.samples(), 3u);
  EXPECT_EQ(holdings.abandoned(), adoption.abandoned);
  EXPECT_EQ(holdings.budget_left({.gradients = 10}), 7u);
}

}  // namespace
}  // namespace dasgd::elastic::test
