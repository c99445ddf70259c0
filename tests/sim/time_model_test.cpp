#include "dasgd/virtual_time/time_model.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <rapidcheck/gtest.h>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

// Every tenth gradient of an odd worker waits for a disk.
TimeModel with_disk() {
  return TimeModel::custom([](std::size_t item, std::uint64_t index, Random& random) {
    const Nanoseconds waits = item % 2 == 1 && index % 10 == 0 ? 5'000'000 : 0;
    return Nanoseconds{1'000'000} + random.below(1000) + waits;
  });
}

RC_GTEST_PROP(TimeModelTest, AnOwnDrawIsAFunctionOfSeedItemAndIndexInWhateverOrder, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const TimeModel one = with_disk(), other = with_disk();
  std::vector<std::uint32_t> order(40);
  std::iota(order.begin(), order.end(), 0u);
  std::map<std::uint32_t, Nanoseconds> first;
  for (const std::uint32_t k : order)
    first[k] = one.draw(seed, Purpose::compute_time, k % 4, k / 4);
  Random(*rc::gen::arbitrary<std::uint64_t>(), Purpose::test).shuffle(order);
  for (const std::uint32_t k : order)
    RC_ASSERT(other.draw(seed, Purpose::compute_time, k % 4, k / 4) == first[k]);
}

TEST(TimeModelTest, OwnDrawsOfOtherSeedsItemsAndPurposesDiffer) {
  const TimeModel model = TimeModel::custom(
      [](std::size_t, std::uint64_t, Random& random) { return Nanoseconds{random.bits()}; });
  const Nanoseconds one = model.draw(1, Purpose::compute_time, 2, 3);
  EXPECT_NE(one, model.draw(2, Purpose::compute_time, 2, 3));
  EXPECT_NE(one, model.draw(1, Purpose::latency, 2, 3));
  EXPECT_NE(one, model.draw(1, Purpose::compute_time, 3, 3));
  EXPECT_NE(one, model.draw(1, Purpose::compute_time, 2, 4));
}

TEST(TimeModelTest, OfAnOwnOneNothingIsKnownBeforeItIsDrawn) {
  const TimeModel model = with_disk();
  EXPECT_FALSE(model.is_constant());
  EXPECT_EQ(model.items(), 0u) << "any number of workers";
  EXPECT_EQ(model.smallest(), 0);
  EXPECT_EQ(model.largest(), std::numeric_limits<Nanoseconds>::max());
}

TEST(TimeModelTest, TheUsualTimeIsNoDraw) {
  EXPECT_EQ(TimeModel::constant(7).usual(), 7);
  EXPECT_EQ(TimeModel::lognormal(50, 1).usual(), 50);
  EXPECT_EQ(TimeModel::exponential(50).usual(), 50);
  EXPECT_EQ(TimeModel::uniform(20, 40).usual(), 30);
  EXPECT_EQ(TimeModel::per_item({5, 50}).usual(), 5);
}

TEST(TimeModelTest, ANegativeTimeIsRefused) {
  const auto model = TimeModel::custom([](auto...) { return Nanoseconds{-1}; });
  EXPECT_THROW(model.draw(1, Purpose::compute_time, 0, 0), InputError);
}

TEST(TimeModelTest, ASimulationTakesAnOwnOneForComputeAndLatency) {
  VirtualWorld world;
  world.compute = with_disk();
  world.latency = TimeModel::custom([](std::size_t link, std::uint64_t, Random& random) {
    return Nanoseconds{1000} * (1 + static_cast<Nanoseconds>(link)) + random.below(500);
  });
  const TrainOptions options{.workers = 4, .gradients = {50}};
  const auto once = simulate(Quadratic::random(1), options, world);
  world.threads = 2;
  const auto again = simulate(Quadratic::random(1), options, world);
  EXPECT_EQ(once.summary.lost, 0u);
  EXPECT_EQ(once.summary.replica_digest, again.summary.replica_digest);
  EXPECT_EQ(once.summary.time, again.summary.time);
  ASSERT_EQ(once.summary.time.size(), 4u);
  EXPECT_LT(once.summary.time[0], once.summary.time[1]) << "odd workers wait for the disk";
}

}  // namespace
}  // namespace dasgd
