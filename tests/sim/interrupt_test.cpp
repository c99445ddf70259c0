#include <gtest/gtest.h>
#include <numeric>
#include <stop_token>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/ending.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

// A run that is interrupted while every worker computes its first gradient.
TrainResult<double> interrupted_run(std::size_t workers) {
  std::stop_source stop;
  std::size_t begun = 0;
  const auto compute = TimeModel::custom([&](std::size_t, std::uint64_t, Random&) {
    if (++begun == workers) stop.request_stop();
    return Nanoseconds{1'000'000};
  });
  TrainOptions options{.workers = workers, .eta = 1e-6, .gradients = {3}};
  options.stop = stop.get_token();
  return simulate(Quadratic::random(1), options, {.compute = compute});
}

TEST(Interrupt, DrainsARunThatNeedsFewEvents) {
  const RunSummary summary = interrupted_run(10).summary;
  EXPECT_EQ(summary.stop_reason, StopReason::interrupted);
  EXPECT_EQ(summary.gradients, 10u);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_TRUE(summary.replicas_compared && summary.replicas_identical);
}

TEST(Interrupt, EndsARunThatWouldTakeLongToDrainWithWhatItHas) {
  const RunSummary summary = interrupted_run(1'000).summary;
  const auto applied =
      std::accumulate(summary.iterations.begin(), summary.iterations.end(), std::uint64_t{0});
  EXPECT_EQ(summary.stop_reason, StopReason::interrupted);
  EXPECT_EQ(summary.gradients, 1'000u);
  EXPECT_LE(applied, most_after_an_interrupt);
  EXPECT_EQ(summary.lost, 1'000u * 1'000u - applied);
  EXPECT_FALSE(summary.replicas_compared);
  EXPECT_TRUE(summary.audit_is_clean());  // as far as it goes
}

}  // namespace
}  // namespace dasgd
