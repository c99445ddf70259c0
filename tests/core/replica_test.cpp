#include "dasgd/core/replica.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <rapidcheck/gtest.h>

#include "dasgd/core/bundle.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

template <typename Real>
GradientPtr gradient(const std::vector<Real>& values, double eta) {
  auto g = std::make_shared<Gradient>();
  HostReplica<Real> origin(std::vector<Real>(values.size(), Real{0}));
  EXPECT_FALSE(origin.apply_own(eta, values, g->update));
  return g;
}

template <typename Real>
bool order_never_matters() {
  return rc::check("the order and grouping of arrivals never change the bits", [] {
    const auto scales = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-30, 10));
    std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
    std::normal_distribution<double> normal;
    std::vector<GradientPtr> gradients;
    for (const int scale : scales) {
      std::vector<Real> values(5);
      for (Real& v : values) v = static_cast<Real>(std::ldexp(normal(random), scale));
      gradients.push_back(gradient<Real>(values, 0.1));
    }
    const std::vector<Real> start{1, -2, 0.3f, 0, 1e-7f};
    HostReplica<Real> one(start), other(start);
    one.apply(gradients);
    std::shuffle(gradients.begin(), gradients.end(), random);
    for (std::span<const GradientPtr> rest(gradients); !rest.empty();) {
      const std::size_t size = 1 + random() % std::min<std::size_t>(rest.size(), 5);
      other.apply(rest.first(size));
      rest = rest.subspan(size);
    }
    RC_ASSERT(std::ranges::equal(one.sums(), other.sums()));
    RC_ASSERT(std::ranges::equal(one.x(), other.x()));
  });
}

TEST(Replica, IsAFunctionOfTheGradientSetForFloats) { EXPECT_TRUE(order_never_matters<float>()); }
TEST(Replica, IsAFunctionOfTheGradientSetForDoubles) { EXPECT_TRUE(order_never_matters<double>()); }

TEST(Replica, AppliesMinusEtaTimesGradient) {
  HostReplica<double> replica(std::vector<double>{1, 2});
  replica.apply(std::vector{gradient<double>({0.5, -4}, 0.25)});
  EXPECT_DOUBLE_EQ(replica.x()[0], 0.875);
  EXPECT_DOUBLE_EQ(replica.x()[1], 3);
}

template <typename Real>
void expect_the_origin_adds_what_it_sends() {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const std::vector<Real> start{1, -2, 3, 0, 5, -6, 7};
  HostReplica<Real> origin(start), receiver(start);
  for (int i = 0; i < 200; ++i) {
    std::vector<Real> values(7);
    for (Real& v : values) v = static_cast<Real>(std::ldexp(normal(random), i % 20 - 15));
    auto g = std::make_shared<Gradient>();
    ASSERT_FALSE(origin.apply_own(0.1, values, g->update));
    const GradientPtr sent = g;
    receiver.apply(std::span(&sent, 1));
    ASSERT_TRUE(std::ranges::equal(origin.sums(), receiver.sums()));
    ASSERT_TRUE(std::ranges::equal(origin.x(), receiver.x()));
  }
}

TEST(Replica, TheOriginAddsWhatItSendsFloats) { expect_the_origin_adds_what_it_sends<float>(); }
TEST(Replica, TheOriginAddsWhatItSendsDoubles) { expect_the_origin_adds_what_it_sends<double>(); }

TEST(Replica, KeepsUpdatesThatAFloatWouldLose) {
  HostReplica<float> replica(std::vector<float>{1.0f});
  const auto small = gradient<float>({1e-9f}, 1.0);
  float plain = 1.0f;
  for (int i = 0; i < 100'000; ++i) {
    replica.apply(std::span(&small, 1));
    plain -= 1e-9f;
  }
  EXPECT_EQ(plain, 1.0f);
  EXPECT_NEAR(replica.x()[0], 1.0 - 1e-4, 1e-6);
}

TEST(Replica, RemembersThatItLeftItsRange) {
  HostReplica<float> replica(std::vector<float>{0, 0});
  const auto step = gradient<float>({0, 4000.0f}, 1.0);
  for (int i = 0; i < 60; ++i) replica.apply(std::span(&step, 1));
  EXPECT_FALSE(replica.diverged_at());
  for (int i = 0; i < 60; ++i) replica.apply(std::span(&step, 1));
  EXPECT_EQ(replica.diverged_at(), 1u);
}

TEST(Replica, ABundleThatLeavesTheRangeIsRememberedWithItsFirstCoordinate) {
  HostReplica<float> replica(std::vector<float>{0, 0});
  const auto second = gradient<float>({0, 4000.0f}, 1.0),
             first = gradient<float>({4000.0f, 0}, 1.0);
  for (const auto& [step, found] : {std::pair(second, 1u), {first, 1u}}) {
    for (std::uint32_t k = 0; k < 120; ++k) {
      const auto named = std::make_shared<Gradient>(*step);
      named->name = {WorkerId{0}, k};
      Bundle bundle;
      bundle.add(std::vector<GradientPtr>{named});
      replica.apply(bundle);
    }
    EXPECT_EQ(replica.diverged_at(), found) << "what came first stays";
  }
}

// The largest coordinate decides the unit of an update; with a finer one it would not fit.
template <typename Real>
void expect_the_largest_coordinate_to_fit_wherever_it_is() {
  for (std::size_t size : {1, 7, 16, 40})
    for (std::size_t at = 0; at < size; ++at) {
      std::vector<Real> values(size, Real{1e-6f});
      values[at] = -900;
      HostReplica<Real> replica{std::vector<Real>(size)};
      Update update;
      ASSERT_FALSE(replica.apply_own(1.0, values, update));
      ASSERT_EQ(replica.x()[at], Real{900}) << at << " of " << size;
    }
}

TEST(Replica, TheLargestCoordinateFitsWhereverItIs) {
  expect_the_largest_coordinate_to_fit_wherever_it_is<float>();
  expect_the_largest_coordinate_to_fit_wherever_it_is<double>();
}

TEST(Replica, AnUpdateOfNothingHasNoShiftAndAFactorBeyondItsFormatDiverges) {
  HostReplica<float> replica(std::vector<float>{1, 2});
  Update update;
  EXPECT_FALSE(replica.apply_own(0.5, std::vector<float>{0, 0}, update));
  EXPECT_EQ(update.shift, 0);
  EXPECT_EQ(replica.apply_own(1e35, std::vector<float>{2e-38f, 1e-38f}, update), 0u);
  EXPECT_EQ(replica.x()[0], 1.0f);
}

// The numbers that are looked at are brought up to date when somebody looks.
TEST(Replica, ShowsEveryChange) {
  HostReplica<double> replica(std::vector<double>{1, 2}), other(std::vector<double>{5, 7});
  const auto shows = [&](double a, double b) { return replica.x()[0] == a && replica.x()[1] == b; };
  EXPECT_TRUE(shows(1, 2));
  replica.restore(other.sums());
  EXPECT_TRUE(shows(5, 7));
  const GradientPtr step = gradient<double>({4, 8}, 0.25);
  replica.apply(std::span(&step, 1));
  EXPECT_TRUE(shows(4, 5));
  Bundle bundle;
  bundle.add(std::span(&step, 1));
  replica.apply(bundle);
  EXPECT_TRUE(shows(3, 3));
  Update update;
  EXPECT_FALSE(replica.apply_own(0.25, std::vector<double>{4, 4}, update));
  EXPECT_TRUE(shows(2, 2));
  EXPECT_EQ(replica.dimension(), 2u);
}

TEST(Replica, RefusesAStartThatIsNotANumber) {
  EXPECT_THROW(HostReplica<float>(std::vector<float>{NAN}), InputError);
}

}  // namespace
}  // namespace dasgd
