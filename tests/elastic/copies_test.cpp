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

GradientSet names(std::uint32_t first, std::uint32_t last) {
  return model_of({{WorkerId{0}, first, last}}).names;
}
std::vector<std::uint64_t> sizes(const Copies& copies) {
  std::vector<std::uint64_t> sizes;
  for (const Model& model : copies.models()) sizes.push_back(model.names.size());
  return sizes;
}
using Sizes = std::vector<std::uint64_t>;

TEST(Copies, OfTheTwoThatAreClosestTheEarlierGoesBeyondTheLimit) {
  Copies copies(3);
  for (const std::uint32_t size : {10u, 20u, 20u, 25u})
    copies.add(model_of({{WorkerId{0}, 0, size}}));
  EXPECT_EQ(sizes(copies), (Sizes{10, 20, 25}));  // the same again is not kept
  copies.add(model_of({{WorkerId{0}, 0, 50}}));
  EXPECT_EQ(sizes(copies), (Sizes{10, 25, 50}));
  copies.add(model_of({{WorkerId{0}, 0, 51}}));
  EXPECT_EQ(sizes(copies), (Sizes{10, 25, 51}));
  copies.add(model_of({{WorkerId{0}, 0, 66}}));  // 15, 26 and 15 apart: the first two
  EXPECT_EQ(sizes(copies), (Sizes{25, 51, 66}));
}

TEST(Copies, WhatIsLooseStaysAsLongAsItsCopy) {
  Copies copies(3);
  for (const std::uint32_t size : {10u, 20u, 25u}) {
    copies.add(model_of({{WorkerId{0}, 0, size}}));
    copies.loosen(names(size, size + 1));
  }
  copies.loosen(names(27, 28));
  EXPECT_EQ(copies.without_loose(names(9, 30)).size(), 21u - 4);
  EXPECT_EQ(copies.without_loose(names(25, 28)), names(26, 27));
  copies.add(model_of({{WorkerId{0}, 0, 50}}));  // the second goes
  EXPECT_EQ(copies.without_loose(names(20, 27)).size(), 6u);
  copies.keep_within(names(0, 49));
  copies.keep_within(names(0, 10));
  EXPECT_EQ(copies.without_loose(names(9, 30)).size(), 20u);
  copies.clear();
  EXPECT_TRUE(copies.empty());
  EXPECT_EQ(copies.without_loose(names(9, 30)), names(9, 30));
}

}  // namespace
}  // namespace dasgd::elastic
