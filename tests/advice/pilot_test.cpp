// The short run that comes before advice.
#include "dasgd/advice/pilot.hpp"

#include <gtest/gtest.h>

#include "dasgd/dasgd.hpp"

namespace dasgd {
namespace {

TEST(Pilot, SharesItsBudgetAsTheRunDoes) {
  const Quadratic q = Quadratic::random(1);
  TrainOptions options{.workers = 4, .eta = 1e-3, .slow = {{WorkerId{3}, 10}}};
  const VirtualWorld world{.compute = TimeModel::constant(1'000'000)};
  options.total_gradients = 2000;
  const auto pilot = pilot_in_virtual_time<double>(q, options, world);
  const auto run = run_simulation<double>(q, options, world);
  const double rate = static_cast<double>(run.summary.gradients) / *run.summary.virtual_seconds;
  EXPECT_NEAR(pilot.gradients_per_second, rate, 0.1 * rate);
  EXPECT_NEAR(pilot.figures.S_avg, run.summary.staleness.S_avg, 0.1 * pilot.figures.S_avg);

  options.total_gradients.reset();
  options.gradients = {100};
  const auto each = pilot_in_virtual_time<double>(q, options, world);
  EXPECT_LT(each.gradients_per_second, 0.2 * rate) << "the slow worker makes as many";
}

}  // namespace
}  // namespace dasgd
