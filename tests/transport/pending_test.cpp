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

/// One that knows what so many workers had made.
GradientPtr knowing(std::uint32_t sequence, std::size_t workers) {
  const auto g = std::make_shared<Gradient>(*numbered(1, sequence));
  g->compute_set = GradientSet(workers);
  return g;
}

TEST(Pending, MoreFactsThanOneMessageMayBringAreAFurtherBundle) {
  const FactsLimit limit{.few = 10'000, .most = 10'000};
  Pending pending(limit), whole;
  std::int64_t sum = 0, taken = 0;
  for (std::uint32_t k = 0; k < 1'000; ++k) {
    const GradientPtr g = knowing(k, 500);  // 2,000 bytes and more
    sum += value_of(g);
    pending.add(g);
    whole.add(g);
  }
  EXPECT_EQ(pending.size(), 1'000u);
  EXPECT_EQ(pending.size_in_bytes(), 249 * sizeof(Sum<float>) + 4 * sizeof(Number<float>));
  std::uint32_t next = 0;
  while (!pending.empty()) {
    const Parcel parcel = pending.take();
    EXPECT_LE(parcel.facts_bytes(), limit.few);
    parcel.for_each([&](const GradientFacts& g) { EXPECT_EQ(g.name.sequence, next++); });
    taken += value_of(parcel);
  }
  EXPECT_EQ(next, 1'000u) << "oldest first";
  EXPECT_EQ(taken, sum);
  EXPECT_EQ(pending.size_in_bytes(), 0u);
  EXPECT_EQ(whole.take().size(), 1'000u) << "2 MB are few";
}

// So that over any number of hops a message stays what every receiver takes.
TEST(Pending, BundlesThatAreNearlyFullStayApart) {
  const FactsLimit limit{.few = 10'000, .most = 10'000};
  Pending pending(limit);
  std::vector<Parcel> bundles;
  for (std::uint32_t k = 0; k < 6; k += 2) {
    Pending other;
    other.add(knowing(k, 1'000));
    other.add(knowing(k + 1, 1'000));
    bundles.push_back(other.take());
    pending.add(bundles.back());
  }
  pending.add(knowing(6, 0));
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(pending.take().bundle, bundles[k].bundle) << k;
  EXPECT_EQ(pending.take().size(), 3u);
  EXPECT_TRUE(pending.empty());
}

TEST(Pending, BesideALargeModelAsManyFactsAsNumbersAreOneMessage) {
  const FactsLimit limit{.few = 10'000, .most = 50'000};
  EXPECT_TRUE(limit.allows(10'000, 0));
  EXPECT_FALSE(limit.allows(10'001, 0));
  EXPECT_TRUE(limit.allows(20'000, 20'000));
  EXPECT_FALSE(limit.allows(20'001, 20'000));
  EXPECT_TRUE(limit.allows(50'000, 1'000'000));
  EXPECT_FALSE(limit.allows(50'001, 1'000'000));
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
