#include "dasgd/elastic/adoption/log.hpp"

#include <gtest/gtest.h>

namespace dasgd::elastic {
namespace {

constexpr WorkerId a{0}, b{1};

GradientPtr named(WorkerId origin, std::uint32_t sequence) {
  auto gradient = std::make_shared<Gradient>();
  gradient->name = {origin, sequence};
  return gradient;
}

TEST(Log, DropsWhatIsUnneededAndHasComeByThen) {
  Log log;
  for (std::uint32_t i = 0; i < 6; ++i) log.add(named(a, i), 10 * i, true);
  log.add(named(b, 3), 60, true);
  GradientSet unneeded;
  unneeded.insert_range({a, 0, 2});
  unneeded.insert_range({a, 3, 6});
  unneeded.insert({b, 3});
  log.drop(unneeded, 40);
  GradientSet left;
  left.insert({a, 2});  // needed
  left.insert({a, 5});  // too young, ...
  left.insert({b, 3});  // ... and so is this
  EXPECT_EQ(log.names(), left);
  EXPECT_EQ(log.size(), 3u);
  EXPECT_FALSE(log.find({a, 4}));
  EXPECT_TRUE(log.find({a, 5}));
  std::vector<GradientName> in_order;
  log.visit_from(0, [&](const Log::Entry& entry) {
    in_order.push_back(entry.parcel.first_name());
    return true;
  });
  EXPECT_EQ(in_order, (std::vector<GradientName>{{a, 2}, {a, 5}, {b, 3}}));
}

BundlePtr bundle_of(WorkerId origin, std::uint32_t first, std::uint32_t count) {
  std::vector<GradientFacts> facts(count);
  for (std::uint32_t i = 0; i < count; ++i) facts[i].name = {origin, first + i};
  return std::make_shared<const Bundle>(std::move(facts), NumberFormat::of_float, 8);
}

TEST(Log, KnowsItsBytesAndWhenSomethingCame) {
  Log log;
  EXPECT_EQ(log.size_in_bytes(), 0u);
  log.add(named(a, 0), 10, true);
  const std::size_t one = log.size_in_bytes();
  log.add(bundle_of(a, 1, 3), 20, true);
  EXPECT_GT(log.size_in_bytes(), 2 * one + 8);
  EXPECT_EQ(log.since({a, 2}), 20);
  EXPECT_EQ(log.since({a, 4}), std::nullopt);
  GradientSet unneeded;
  unneeded.insert_range({a, 1, 4});
  log.drop(unneeded, 20);
  EXPECT_EQ(log.size_in_bytes(), one);
  log.add(named(a, 0), 30, true);  // given up, and back again
  EXPECT_EQ(log.size_in_bytes(), one);
}

TEST(Log, CountsTheComputeSetsOfRunsThatManyHaveJoined) {
  Gradient gradient;
  gradient.name = {a, 0};
  gradient.compute_set.insert({WorkerId{4999}, 0});
  Log log;
  log.add(std::make_shared<const Gradient>(std::move(gradient)), 1, true);
  EXPECT_GE(log.size_in_bytes(), 5000 * sizeof(std::uint32_t));
}

TEST(Log, DoesNotTakeBundlesApart) {
  Log log;
  log.add(named(a, 0), 1, true);
  log.add(bundle_of(a, 1, 3), 2, true);
  log.add(named(a, 4), 3, true);
  const auto has = [&](std::uint32_t first, std::uint32_t last) {
    GradientSet names;
    names.insert_range({a, first, last});
    EXPECT_EQ(log.has_all_of(names), log.all_of(names).has_value());
    return log.has_all_of(names);
  };
  EXPECT_TRUE(has(0, 1) && has(1, 4) && has(4, 5) && has(0, 5));
  EXPECT_FALSE(has(0, 2) || has(0, 3) || has(1, 2) || has(1, 3) || has(2, 4) || has(3, 5));
  EXPECT_EQ(log.all_of(log.names())->size(), 3u);
  GradientSet some;
  some.insert_range({a, 0, 3});
  log.drop(some, 10);
  EXPECT_EQ(log.names().size(), 4u);  // the bundle is still wanted, in part
  log.drop(log.names(), 2);           // what came later stays
  EXPECT_EQ(log.names().size(), 1u);
  EXPECT_TRUE(log.find({a, 4}));
  EXPECT_FALSE(log.find({a, 2}));
}

BundlePtr sum_of(std::vector<GradientName> names) {
  std::vector<GradientFacts> facts(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) facts[i].name = names[i];
  return std::make_shared<const Bundle>(std::move(facts), NumberFormat::of_float, 8);
}

// What a relay of a tree has summed.
TEST(Log, KeepsMixedBundlesWhole) {
  Log log;
  log.add(named(a, 0), 1, true);
  log.add(sum_of({{b, 0}, {a, 1}, {a, 3}}), 2, true);
  log.add(named(a, 2), 3, true);
  const auto has = [&](std::vector<GradientName> of) {
    GradientSet names;
    for (const GradientName name : of) names.insert(name);
    EXPECT_EQ(log.has_all_of(names), log.all_of(names).has_value());
    return log.has_all_of(names);
  };
  EXPECT_TRUE(has({{a, 0}, {a, 2}}) && has({{a, 1}, {a, 3}, {b, 0}}));
  EXPECT_FALSE(has({{a, 1}}) || has({{b, 0}}) || has({{a, 0}, {a, 1}, {a, 3}}));
  EXPECT_EQ(log.all_of(log.names())->size(), 3u);
  GradientSet of_a;
  of_a.insert_range({a, 0, 4});
  log.drop(of_a, 10);  // up to the sum, which somebody still lacks
  GradientSet left;
  left.insert({b, 0});
  left.insert_range({a, 1, 4});
  EXPECT_EQ(log.names(), left);
  log.drop(log.names(), 10);
  EXPECT_EQ(log.size(), 0u);
  EXPECT_EQ(log.names(), GradientSet());
  log.add(named(a, 3), 4, true);  // its place is free
  EXPECT_EQ(log.size(), 1u);
}

TEST(Log, ForgetsAllNamesOfAMixedBundleThatItDrops) {
  Log log;
  log.add(sum_of({{a, 1}, {a, 4}}), 1, true);
  log.add(named(a, 0), 50, true);  // keeps those behind it in its range
  GradientSet unneeded;
  unneeded.insert_range({a, 0, 2});
  unneeded.insert({a, 4});
  log.drop(unneeded, 10);
  GradientSet left;
  left.insert({a, 0});
  EXPECT_EQ(log.names(), left);
  log.add(named(a, 1), 60, true);
  EXPECT_EQ(log.size(), 2u);
}

// Names that were given up come back in other company.
TEST(Log, KeepsANameInOnePlace) {
  Log log;
  log.add(named(a, 0), 1, true);
  log.add(named(a, 1), 1, true);
  log.add(bundle_of(a, 1, 2), 2, true);
  EXPECT_EQ(log.size(), 2u);
  EXPECT_EQ(log.all_of(log.names())->size(), 2u);
  log.add(named(a, 2), 3, true);
  EXPECT_EQ(log.size(), 2u);
  EXPECT_FALSE(log.find({a, 1}));
  log.drop(log.names(), 5);
  EXPECT_EQ(log.size(), 0u);
}

// One that came late, by a detour, keeps those behind it until it is old enough itself.
TEST(Log, ALateOneDelaysOnlyThoseBehindIt) {
  Log log;
  log.add(named(a, 0), 1, true);
  log.add(named(a, 2), 2, true);
  log.add(named(a, 1), 50, true);
  log.drop(log.names(), 10);
  EXPECT_EQ(log.size(), 2u);
  log.drop(log.names(), 50);
  EXPECT_EQ(log.size(), 0u);
  EXPECT_EQ(log.names(), GradientSet());
}

}  // namespace
}  // namespace dasgd::elastic
