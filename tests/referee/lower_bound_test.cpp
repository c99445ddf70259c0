#include "dasgd/lab/referee/lower_bound.hpp"

#include <gtest/gtest.h>

namespace dasgd {
namespace {

using Times = std::vector<std::vector<double>>;

TEST(LowerBound, OfEqualWorkersWithoutLatencySharesTheNoise) {
  const Times at_once(4, std::vector<double>(4, 0.0));
  const std::vector<double> h(4, 2.0);
  // L Delta / eps = 30 rounds; each takes a gradient, or sigma^2 / eps = 20 gradients of four.
  EXPECT_DOUBLE_EQ(lower_bound({3, 1, 0.1, 0}, h, at_once), 30 * 2.0);
  EXPECT_DOUBLE_EQ(lower_bound({3, 1, 0.1, 2}, h, at_once), 30 * 20 * 2.0 / 4);
}

TEST(LowerBound, LeavesOutWhoeverIsTooSlowOrTooFar) {
  // A worker that takes 100 does not help, nor does one that is 100 away.
  const Times near{{0, 0, 100}, {0, 0, 100}, {100, 100, 0}};
  EXPECT_DOUBLE_EQ(lower_bound({1, 1, 1, 4}, {1, 1, 1}, near), 2);
  EXPECT_DOUBLE_EQ(lower_bound({1, 1, 1, 4}, {1, 1, 100}, Times(3, std::vector<double>(3, 0.0))),
                   2);
}

}  // namespace
}  // namespace dasgd
