// How far members go beyond a budget that they share.
#include <gtest/gtest.h>

#include "elastic/scenario.hpp"

namespace dasgd::elastic {
namespace {

constexpr Nanoseconds a_millisecond = 1'000'000;

/// Gradients in the model of a run of so many members, most of which join while it goes on.
std::uint64_t gradients_of(std::size_t members, std::uint64_t budget, Nanoseconds compute,
                           Nanoseconds latency) {
  static const Quadratic objective = Quadratic::random(7, 4);
  WorldOptions options = quick_world(5);
  options.protocol.budget.gradients = budget;
  options.protocol.limits.most_waiting_bytes = 64 << 20;
  options.compute = compute;
  options.latency = latency;
  World<double> world(objective, options);
  for (std::size_t i = 0; i < members; ++i) world.add();
  EXPECT_TRUE(world.run_until_over(60'000 * a_millisecond));
  EXPECT_EQ(world.verify(), "");
  return world.worker(0).t();
}

// A run that is over before the first regular report: 384 gradients of a fifth of a millisecond.
TEST(Overshoot, IsWhatMembersMakeWhileFramesAreUnderWay) {
  for (const std::size_t members : {1u, 2u, 4u, 8u})
    for (const Nanoseconds latency : {a_millisecond / 10, a_millisecond, 10 * a_millisecond}) {
      const Nanoseconds compute = a_millisecond / 5;
      const std::uint64_t all = gradients_of(members, 384, compute, latency);
      // A frame takes twice the latency at most, a gradient half of its time at least. One more is
      // under way when a member hears of the end.
      const auto in_flight = static_cast<std::uint64_t>(2 * latency / (compute / 2)) + 1;
      EXPECT_GE(all, 384u);
      EXPECT_LE(all, 384 + (members - 1) * in_flight) << members << " members, latency " << latency;
    }
}

}  // namespace
}  // namespace dasgd::elastic
