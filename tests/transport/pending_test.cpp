#include "dasgd/transport/pending.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace dasgd {
namespace {

GradientPtr numbered(std::size_t origin, std::uint32_t sequence) {
  auto g = std::make_shared<Gradient>();
  g->name = {worker_id(origin), sequence};
  g->update.resize<float>(1);
  g->update.numbers<float>()[0] = static_cast<std::int32_t>(1000 * origin + sequence);
  return g;
}

std::int64_t value_of(const Parcel& parcel) {
  if (parcel.gradient) return parcel.gradient->update.numbers<float>()[0];
  return parcel.bundle->sums<float>()[0];
}

TEST(Pending, OneGradientStaysOne) {
  Pending pending;
  EXPECT_TRUE(pending.empty());
  const GradientPtr one = numbered(2, 3);
  pending.add(one);
  EXPECT_EQ(pending.take().gradient, one);
  EXPECT_TRUE(pending.empty());
}

TEST(Pending, OneBundleStaysWhatItIs) {
  Pending pending, other;
  other.add(numbered(1, 0));
  other.add(numbered(1, 1));
  const Parcel bundle = other.take();
  pending.add(bundle);
  EXPECT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending.size_in_bytes(), bundle.size_in_bytes());
  EXPECT_EQ(pending.take().bundle, bundle.bundle) << "without a copy";
  EXPECT_TRUE(pending.empty());
  pending.add(bundle);
  pending.add(numbered(2, 0));
  const Parcel sum = pending.take();
  EXPECT_EQ(value_of(sum), 1000 + 1001 + 2000);
  EXPECT_EQ(value_of(bundle), 1000 + 1001) << "it is shared";
}

TEST(Pending, AGradientTwiceIsRefused) {
  Pending pending;
  pending.add(numbered(0, 0));
  pending.add(numbered(0, 0));
  EXPECT_THROW(pending.take(), std::logic_error);
}

TEST(Pending, KnowsTheBytesOfTheNumbersThatItKeeps) {
  constexpr std::size_t update = sizeof(Number<float>), sum = sizeof(Sum<float>);
  Pending pending, other;
  EXPECT_EQ(pending.size_in_bytes(), 0u);
  pending.add(numbered(0, 0));
  pending.add(numbered(0, 1));
  EXPECT_EQ(pending.size_in_bytes(), 2 * update);
  other.add(numbered(1, 0));
  other.add(numbered(1, 1));
  pending.add(other.take());
  EXPECT_EQ(pending.size_in_bytes(), sum);
  pending.add(numbered(0, 2));
  EXPECT_EQ(pending.size_in_bytes(), sum + update);
  pending.take();
  EXPECT_EQ(pending.size_in_bytes(), 0u);
}

RC_GTEST_PROP(Pending, IsTheSumOfAllThatWasAddedInOrder, ()) {
  Pending pending;
  std::vector<GradientName> names;
  std::int64_t sum = 0;
  const auto kinds =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)));
  std::uint32_t sequence = 0;
  for (const int kind : kinds) {
    Pending other;  // 0: one gradient, else a bundle of that many and more
    for (int k = 0; k <= kind; ++k) {
      const GradientPtr g = numbered(1, sequence++);
      names.push_back(g->name);
      sum += value_of(g);
      other.add(g);
    }
    pending.add(other.take());
  }
  RC_ASSERT(pending.size() == names.size());
  const Parcel parcel = pending.take();
  RC_ASSERT(pending.empty());
  RC_ASSERT(value_of(parcel) == sum);
  std::vector<GradientName> taken;
  parcel.for_each([&](const GradientFacts& g) { taken.push_back(g.name); });
  RC_ASSERT(taken == names);
}

}  // namespace
}  // namespace dasgd
