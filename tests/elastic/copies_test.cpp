#include "dasgd/elastic/adoption/copies.hpp"

#include <gtest/gtest.h>

namespace dasgd::elastic {
namespace {

Model model_of(std::initializer_list<NameRange> ranges) {
  Model model;
  for (const NameRange& range : ranges) model.names.insert_range(range);
  return model;
}

// After names were given up the copy of before is of no use, wherever it stands: a difference of
// models is one only where the smaller is within the larger.
TEST(Copies, AreDroppedWhereverTheyHoldWhatIsNotHeld) {
  const WorkerId a{0}, b{1};
  const Model first = model_of({{a, 0, 3}}), before = model_of({{a, 0, 5}, {b, 0, 2}}),
              after = model_of({{a, 0, 5}, {b, 0, 1}});
  Copies copies;
  copies.add(first);
  copies.add(before);
  copies.add(after);
  copies.keep_within(after.names);
  ASSERT_EQ(copies.models().size(), 2u);
  EXPECT_EQ(copies.models()[0].names, first.names);
  EXPECT_EQ(copies.models()[1].names, after.names);
}

TEST(Copies, AreNotSubtractedFromWhatDoesNotHoldThem) {
  const WorkerId a{0}, b{1};
  const Model lower = model_of({{a, 0, 3}, {b, 0, 4}}), from = model_of({{a, 0, 4}});
  const GradientSet held = model_of({{a, 0, 6}}).names;  // not all of `lower`
  EXPECT_FALSE(plan_adoption(from, held, 0, Log(), std::span(&lower, 1), false));
}

}  // namespace
}  // namespace dasgd::elastic
