#include "dasgd/core/gradient_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

namespace dasgd {
namespace {

GradientName name(std::size_t origin, std::uint32_t sequence) {
  return {worker_id(origin), sequence};
}

using Names = std::set<GradientName>;

GradientSet make(const std::vector<GradientName>& names) {
  GradientSet set;
  for (const GradientName& n : names) set.insert(n);
  return set;
}

std::vector<GradientName> some_names() {
  const auto pairs = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 5), rc::gen::inRange(0, 12)));
  std::vector<GradientName> names;
  for (const auto& [origin, sequence] : pairs)
    names.push_back(name(static_cast<std::size_t>(origin), static_cast<std::uint32_t>(sequence)));
  return names;
}

TEST(GradientSet, KeepsAPrefixPerOriginAndNothingElseInOrder) {
  GradientSet set;
  for (std::uint32_t k = 0; k < 1000; ++k) EXPECT_TRUE(set.insert(name(2, k)));
  EXPECT_EQ(set.size(), 1000u);
  EXPECT_EQ(set.prefix(worker_id(2)), 1000u);
  EXPECT_TRUE(set.exceptions().empty());
}

TEST(GradientSet, HoldsExceptionsUntilTheGapCloses) {
  GradientSet set = make({name(0, 1), name(0, 2), name(0, 4)});
  EXPECT_EQ(set.prefix(worker_id(0)), 0u);
  EXPECT_EQ(set.exceptions(), (std::vector<NameRange>{{worker_id(0), 1, 3}, {worker_id(0), 4, 5}}));
  set.insert(name(0, 0));
  EXPECT_EQ(set.prefix(worker_id(0)), 3u);
  EXPECT_EQ(set.exceptions(), (std::vector<NameRange>{{worker_id(0), 4, 5}}));
}

TEST(GradientSet, RefusesANameThatIsThere) {
  GradientSet set = make({name(0, 0), name(1, 5)});
  EXPECT_FALSE(set.insert(name(0, 0)));
  EXPECT_FALSE(set.insert(name(1, 5)));
  EXPECT_EQ(set.size(), 2u);
}

RC_GTEST_PROP(GradientSet, BehavesLikeASetInAnyOrder, ()) {
  const auto names = some_names();
  GradientSet set;
  Names model;
  for (const GradientName& n : names) RC_ASSERT(set.insert(n) == model.insert(n).second);
  RC_ASSERT(set.size() == model.size());
  for (std::size_t o = 0; o < 6; ++o)
    for (std::uint32_t k = 0; k < 14; ++k)
      RC_ASSERT(set.contains(name(o, k)) == model.contains(name(o, k)));
}

RC_GTEST_PROP(GradientSet, EqualityDoesNotDependOnTheOrderOfArrival, ()) {
  auto names = some_names();
  const GradientSet set = make(names);
  std::reverse(names.begin(), names.end());
  RC_ASSERT(set == make(names));
}

RC_GTEST_PROP(GradientSet, DifferenceMatchesTheDefinition, ()) {
  const auto a = some_names(), b = some_names();
  const GradientSet x = make(a), y = make(b);
  Names expected;
  for (const GradientName& n : a)
    if (!y.contains(n)) expected.insert(n);
  Names found;
  x.for_each_range_missing_from(y, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t k = first; k < last; ++k) RC_ASSERT(found.insert({origin, k}).second);
  });
  RC_ASSERT(found == expected);
  RC_ASSERT(x.count_missing_from(y) == expected.size());
}

RC_GTEST_PROP(GradientSet, ItsBytesComeBackAsTheSetThatTheyWere, ()) {
  const GradientSet set = make(some_names());
  ByteWriter out;
  set.write(out);
  ByteReader in(out.bytes());
  const GradientSet back = GradientSet::read(in);
  RC_ASSERT(in.ended_well());
  RC_ASSERT(back == set);
  RC_ASSERT(back.exceptions() == set.exceptions());
}

RC_GTEST_PROP(GradientSet, ARangeIsAllItsNames, ()) {
  GradientSet one_by_one = make(some_names());
  GradientSet at_once = one_by_one;
  for (int k = 0; k < 3; ++k) {
    const auto origin = worker_id(static_cast<std::size_t>(*rc::gen::inRange(0, 5)));
    const auto first = static_cast<std::uint32_t>(*rc::gen::inRange(0, 12));
    const auto last = first + static_cast<std::uint32_t>(*rc::gen::inRange(0, 8));
    at_once.insert_range({origin, first, last});
    for (std::uint32_t n = first; n < last; ++n) one_by_one.insert({origin, n});
    RC_ASSERT(at_once.size() == one_by_one.size());
    RC_ASSERT(at_once.exceptions() == one_by_one.exceptions());
    RC_ASSERT(at_once == one_by_one);
  }
}

RC_GTEST_PROP(GradientSet, AUnionHoldsBoth, ()) {
  const auto a = some_names(), b = some_names();
  GradientSet x = make(a);
  x.unite(make(b));
  auto both = a;
  both.insert(both.end(), b.begin(), b.end());
  RC_ASSERT(x == make(both));
  RC_ASSERT(x.exceptions() == make(both).exceptions());
}

TEST(GradientSet, BytesThatAreNoSetAreRefused) {
  const auto refused = [](std::vector<std::uint32_t> prefixes, std::vector<NameRange> ranges) {
    ByteWriter out;
    out.array(std::span<const std::uint32_t>(prefixes));
    out.array(std::span<const NameRange>(ranges));
    ByteReader in(out.bytes());
    GradientSet::read(in);
    return !in.ok();
  };
  EXPECT_FALSE(refused({2, 0}, {{worker_id(0), 3, 5}, {worker_id(1), 1, 2}}));
  EXPECT_TRUE(refused({2}, {{worker_id(0), 2, 5}})) << "there is no gap";
  EXPECT_TRUE(refused({2}, {{worker_id(0), 4, 4}})) << "it is empty";
  EXPECT_TRUE(refused({2}, {{worker_id(0), 3, 5}, {worker_id(0), 5, 6}})) << "they touch";
  EXPECT_TRUE(refused({2, 0}, {{worker_id(1), 3, 5}, {worker_id(0), 5, 6}})) << "they descend";
  EXPECT_TRUE(refused({2}, {{worker_id(1), 3, 5}})) << "nobody has that number";
}

RC_GTEST_PROP(GradientSet, WhatIsWithoutAnotherSharesNothingWithIt, ()) {
  const GradientSet x = make(some_names()), y = make(some_names());
  const GradientSet rest = x.without(y);
  RC_ASSERT(rest.is_disjoint_from(y));
  RC_ASSERT(rest.size() == x.count_missing_from(y));
  RC_ASSERT(rest.count_missing_from(x) == 0u);
}

RC_GTEST_PROP(GradientSet, IntersectionMatchesTheDefinition, ()) {
  const auto a = some_names(), b = some_names();
  GradientSet x = make(a);
  const GradientSet y = make(b);
  Names expected;
  for (const GradientName& n : a)
    if (y.contains(n)) expected.insert(n);
  x.intersect(y);
  RC_ASSERT(x.size() == expected.size());
  for (const GradientName& n : expected) RC_ASSERT(x.contains(n));
}

TEST(GradientSet, OriginsThatOnlyTheOtherKnowsAndWithoutAnyOfTheirsAddNothing) {
  GradientSet set(1), other(3);
  set.insert({WorkerId{0}, 0});
  other.insert({WorkerId{1}, 0});
  set.unite(other);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(set.prefix(WorkerId{2}), 0u);
  EXPECT_FALSE(set.contains({WorkerId{2}, 0}));
}

}  // namespace
}  // namespace dasgd
