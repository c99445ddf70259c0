#include "dasgd/lab/referee/contest/real_dasgd.hpp"

#include <gtest/gtest.h>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/runtime/train.hpp"

namespace dasgd {
namespace {

TEST(RealDasgd, NobodyLooksWhenAllIsSeen) {
  const auto problem = Quadratic::random(1);
  const TrainOptions options{.workers = 2, .eta = 1e-4};
  VirtualWorld world;
  world.compute = TimeModel::constant(1'000'000);
  std::size_t looks = 0;
  Nanoseconds last = -1;
  const Observer<double> observer{5'000'000, [&](const Instant<double>& instant) {
                                    EXPECT_GT(instant.time, last);
                                    last = instant.time;
                                    return ++looks >= 3;
                                  }};
  const PlayResult result =
      perform_dasgd<double>(problem, options, world, &observer, run_training<double>);
  EXPECT_EQ(result.reason, StopReason::target);
  EXPECT_EQ(looks, 3u);
}

}  // namespace
}  // namespace dasgd
