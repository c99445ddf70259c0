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
    in_order.push_back(entry.gradient->name);
    return true;
  });
  EXPECT_EQ(in_order, (std::vector<GradientName>{{a, 2}, {a, 5}, {b, 3}}));
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
