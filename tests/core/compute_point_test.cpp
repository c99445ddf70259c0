#include "dasgd/core/compute_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "dasgd/base/input_error.hpp"

namespace dasgd {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr WorkerId self{0}, other{1};
const LookAhead one{LookAhead::Kind::fixed, 1, 2};

GradientFacts from_other(std::uint32_t sequence, std::uint32_t knows) {
  GradientFacts g;
  g.name = {other, sequence};
  g.compute_set.insert_range({self, 0, knows});
  return g;
}

class ComputePointTest : public ::testing::Test {
 protected:
  /// Moves x by -eta * direction, as a worker does.
  void make(ComputePoint<double>& point, double direction) {
    Update update;
    replica.apply_own(0.5, std::vector<double>{direction}, update);
    point.made(0.5, std::vector<double>{direction});
  }
  HostReplica<double> replica{std::vector<double>{10}};
};

TEST_F(ComputePointTest, WithoutLookAheadItIsTheReplica) {
  ComputePoint<double> point(replica, self);
  make(point, 2);
  EXPECT_EQ(point.y().data(), replica.x().data());
  EXPECT_EQ(point.last_y().data(), replica.x().data());
  EXPECT_TRUE(point.plan().is_off());
}

TEST_F(ComputePointTest, OwnUpdatesStandInForThoseOfTheOther) {
  ComputePoint<double> point(replica, self, one);
  EXPECT_THAT(point.y(), ElementsAre(10));
  make(point, 2);  // x = 9, and the other has made as many
  EXPECT_THAT(point.y(), ElementsAre(DoubleNear(8, 1e-12)));
  EXPECT_THAT(replica.x(), ElementsAre(DoubleNear(9, 1e-12)));
  make(point, 4);  // x = 7
  EXPECT_THAT(point.y(), ElementsAre(DoubleNear(4, 1e-12)));
}

TEST_F(ComputePointTest, WhatWasForgottenIsNotGuessedAnyMore) {
  ComputePoint<double> point(replica, self, one);
  make(point, 2);
  point.y();
  point.forget();
  EXPECT_THAT(point.y(), ElementsAre(DoubleNear(9, 1e-12)));
}

TEST_F(ComputePointTest, WhatHasArrivedIsNoLongerGuessed) {
  ComputePoint<double> point(replica, self, one);
  make(point, 2);
  point.applied(from_other(0, 0));  // one own, one of the other: nothing is missing
  EXPECT_THAT(point.y(), ElementsAre(DoubleNear(9, 1e-12)));
}

TEST_F(ComputePointTest, LambdaScalesTheGuess) {
  ComputePoint<double> point(replica, self, {LookAhead::Kind::fixed, 0.25, 2});
  make(point, 2);
  EXPECT_THAT(point.y(), ElementsAre(DoubleNear(8.75, 1e-12)));
}

TEST_F(ComputePointTest, AReplacedModelHasNoOwnUpdatesToGuessFrom) {
  ComputePoint<double> point(replica, self, one);
  make(point, 2);
  point.replaced(1);
  EXPECT_THAT(point.y(), ElementsAre(DoubleNear(9, 1e-12)));
}

TEST_F(ComputePointTest, FiguresAreMeansOverOwnGradients) {
  ComputePoint<double> point(replica, self, one);
  point.y();
  make(point, 2);
  point.y();
  make(point, 2);
  point.applied(from_other(0, 0));
  const LookAheadFigures figures = point.plan().figures();
  EXPECT_EQ(figures.gradients, 2u);
  EXPECT_EQ(figures.lambda, 1);
  EXPECT_DOUBLE_EQ(figures.missing_estimated, (0.5 + 1.5) / 2);
  EXPECT_DOUBLE_EQ(figures.missing_true, 0.5);  // two pairs, half of them, per own gradient
  EXPECT_EQ(figures.gap, 0);                    // looked at once so far, at the start
}

TEST_F(ComputePointTest, AutomaticLambdaIsOneUnlessNoiseMeetsALongDelay) {
  const auto lambda = [&](bool noisy, std::uint32_t lag) {
    ComputePoint<double> point(replica, self, {LookAhead::Kind::automatic, 0, 2});
    for (std::uint32_t k = 0; k < 400; ++k) {
      point.y();
      // Directions that are compared, every second one, point to either side.
      make(point, noisy ? 1e-6 + ((k / 2) % 2 == 0 ? 1e-3 : -1e-3) : 1e-3);
      if (k >= lag) point.applied(from_other(k, k + 1 - lag));
    }
    return point.plan().figures().lambda;
  };
  EXPECT_EQ(lambda(false, 41), 1);
  EXPECT_EQ(lambda(true, 3), 1);
  EXPECT_NEAR(lambda(true, 41), 0.76, 0.01);
}

// The other one's updates, all of them 0, take ten own steps to arrive. Own steps go up and down.
TEST_F(ComputePointTest, ALongGuessIsWithdrawnLittleByLittle) {
  const auto jumps = [&](LookAhead how) {
    ComputePoint<double> point(replica, self, how);
    double most = 0;
    for (std::uint32_t k = 0; k < 400; ++k) {
      const double before = point.y()[0];
      const double step = k % 40 < 20 ? 1e-3 : -1e-3;
      make(point, step);
      if (k >= 21) point.applied(from_other(k, k + 1 - 21));
      // An own step counts twice, for itself and for the other's; what is more is withdrawn.
      if (k >= 100) most = std::max(most, std::abs(point.y()[0] - before + step));
    }
    return most;
  };
  const double at_once = jumps(one);  // an own step that leaves the window
  EXPECT_NEAR(at_once, 0.5e-3, 1e-6);
  EXPECT_LT(jumps({LookAhead::Kind::automatic, 0, 2}), 0.3 * at_once);
}

// To a step or so: when the first arrivals correct the guess, the correction takes a while, too.
TEST_F(ComputePointTest, WithoutNoiseALongGuessLeadsToTheSamePoint) {
  ComputePoint<double> given(replica, self, one);
  HostReplica<double> same{std::vector<double>{10}};
  ComputePoint<double> automatic(same, self, {LookAhead::Kind::automatic, 0, 2});
  for (std::uint32_t k = 0; k < 200; ++k) {
    EXPECT_NEAR(given.y()[0], automatic.y()[0], 3e-3) << k;
    Update update;
    same.apply_own(0.5, std::vector<double>{1e-3}, update);
    automatic.made(0.5, std::vector<double>{1e-3});
    make(given, 1e-3);
    if (k < 10) continue;
    for (ComputePoint<double>* const point : {&given, &automatic}) {
      point->replica().apply_own(0.5, std::vector<double>{1e-3}, update);  // the other's
      point->applied(from_other(k - 10, k < 21 ? 0 : k + 1 - 21));
    }
  }
}

TEST(Signal, SeparatesMeanFromNoise) {
  Signal signal;
  EXPECT_EQ(signal.ratio(), std::numeric_limits<double>::infinity());
  signal.add(2, 2);
  EXPECT_EQ(signal.ratio(), std::numeric_limits<double>::infinity());
  Signal noisy;
  for (int k = 0; k < 100; ++k) noisy.add(1, 5);
  EXPECT_DOUBLE_EQ(noisy.ratio(), 0.25);
  for (int k = 0; k < 1000; ++k) noisy.add(-1, 5);
  EXPECT_EQ(noisy.ratio(), 0);
  noisy.add(std::nan(""), 1);
  EXPECT_EQ(noisy.ratio(), 0);
}

void push(RecentUpdates<double>& recent, double value, double oldest) {
  recent.push(
      oldest, [&](double& sum) { sum = value; }, [](double& to, double from) { to += from; });
}

TEST(RecentUpdates, KeepsTheSumOfAllThatAreYoungEnough) {
  RecentUpdates<double> recent(6);
  for (int k = 1; k <= 100; ++k) push(recent, k, 1000);
  double sum = 0;
  std::uint64_t updates = 0;
  for (const auto& block : recent.blocks()) {
    sum += block.sum;
    updates += block.updates;
  }
  EXPECT_EQ(updates, 100u);
  EXPECT_EQ(sum, 5050);
  EXPECT_LE(recent.blocks().size(), 6u);
  EXPECT_EQ(recent.blocks().front().updates, 1u);
  EXPECT_EQ(recent.blocks().front().sum, 100);
}

TEST(RecentUpdates, ForgetsWhatIsOlderThanTheWindow) {
  RecentUpdates<double> recent(6);
  for (int k = 1; k <= 100; ++k) push(recent, k, 2.5);
  std::uint64_t updates = 0;
  for (const auto& block : recent.blocks()) updates += block.updates;
  EXPECT_GE(updates, 3u);
  EXPECT_LE(updates, 5u);
}

TEST(RecentUpdates, BlocksAreSmallForTheirAge) {
  RecentUpdates<double> recent(6);
  for (int k = 0; k < 1000; ++k) {
    push(recent, 1, 5000);
    std::uint64_t age = 0;
    for (const auto& block : recent.blocks()) {
      EXPECT_LE(block.updates, 1 + 15 * age) << k;
      age += block.updates;
    }
  }
}

TEST(LookAhead, IsReadAndWritten) {
  for (const char* text : {"off", "auto", "0.5", "1"})
    EXPECT_EQ(to_string(parse_look_ahead(text)), text);
  EXPECT_TRUE(parse_look_ahead("0").is_off());
  for (const char* text : {"", "on", "-0.1", "1.5", "nan", "1x"})
    EXPECT_THROW(parse_look_ahead(text), InputError) << text;
}

}  // namespace
}  // namespace dasgd
