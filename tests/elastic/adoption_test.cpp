#include "dasgd/elastic/adoption/adoption.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <span>
#include <vector>

#include "dasgd/core/fixed_point.hpp"
#include "dasgd/elastic/world/sim_member.hpp"
#include "elastic/scenario.hpp"

namespace dasgd::elastic {
namespace {

template <typename Real>
class Corrections : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Corrections, Reals);

template <typename Real>
Model model(const std::vector<Sum<Real>>& sums) {
  Bytes bytes(sums.size() * sizeof(Sum<Real>));
  std::memcpy(bytes.data(), sums.data(), bytes.size());
  return {{}, 0, std::make_shared<const Bytes>(std::move(bytes))};
}

// With x0 common to both: before = x0 + a, from = x0 + b, and after = x0 + a + b.
TYPED_TEST(Corrections, LeadFromTheUnionToTheWeightedMeanOfBoth) {
  using Real = TypeParam;
  const std::vector<double> x0{1, -2, 0.5}, a{0.25, 3, -1}, b{-4, 0.125, 2};
  const auto sum = [](const std::vector<double>& u, const std::vector<double>& v) {
    std::vector<Real> all;
    for (std::size_t k = 0; k < u.size(); ++k) all.push_back(static_cast<Real>(u[k] + v[k]));
    return all;
  };
  std::vector<double> ways(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) ways[k] = a[k] + b[k];
  const std::vector<Real> before = sum(x0, a), from = sum(x0, b), after = sum(x0, ways);
  for (const double share : {0.25, 0.5, 0.9}) {
    Adoption adoption;
    adoption.from = model<Real>(sums_of<Real>(from));
    adoption.mean = Adoption::Mean{share, 1 - share};
    const auto direction = correction<Real>(adoption, sums_of<Real>(before), sums_of<Real>(after));
    ASSERT_EQ(direction.size(), x0.size());
    for (std::size_t k = 0; k < x0.size(); ++k)
      EXPECT_NEAR(after[k] - direction[k], share * before[k] + (1 - share) * from[k], 1e-6) << k;
  }
}

TYPED_TEST(Corrections, OfBothInFullAreNothing) {
  using Real = TypeParam;
  const std::vector<Real> before{1, 2}, from{3, 4}, after{5, 6};
  Adoption adoption;
  adoption.from = model<Real>(sums_of<Real>(from));
  adoption.mean = Adoption::Mean{1, 1};
  EXPECT_EQ(correction<Real>(adoption, sums_of<Real>(before), sums_of<Real>(after)),
            std::vector<Real>(2));
}

/// Holds what a member has after a correction against the two models that it had to bring together.
struct Means : Follower {
  void adopts(std::size_t member, const Adoption& adoption, std::uint64_t) override {
    if (!adoption.mean) return;
    EXPECT_GT(adoption.mean->own, 0);
    EXPECT_NEAR(adoption.mean->own + adoption.mean->other, 1, 1e-12);
    const auto own = (*world)[member].worker().replica().x();
    const auto* const sums = reinterpret_cast<const Sum<double>*>(adoption.from.sums->data());
    std::vector<double> other(own.size());
    to_real<double>(std::span(sums, own.size()), other);
    auto& mean = expected[member];
    for (std::size_t k = 0; k < own.size(); ++k)
      mean.push_back(adoption.mean->own * own[k] + adoption.mean->other * other[k]);
    EXPECT_GT(distance(own, other), 0);
  }
  void applied(std::size_t member, std::vector<TraceLine>) override {
    const auto at = expected.find(member);
    if (at == expected.end()) return;
    const auto x = (*world)[member].worker().replica().x();
    EXPECT_LE(distance(x, at->second), 1e-9 * (1 + distance(x, std::vector<double>(x.size()))));
    expected.erase(at);
    ++compared;
  }
  static double distance(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
  }

  World<double>* world = nullptr;
  std::map<std::size_t, std::vector<double>> expected;
  int compared = 0;
};

TEST(Elastic, AfterALongSplitTheModelIsTheMeanOfBoth) {
  const Quadratic objective = Quadratic::random(7, 4);
  for (const Merge merge : {Merge::average, Merge::union_of_both}) {
    WorldOptions options = quick_world(3);
    options.compute = 20'000'000;
    options.protocol.merge = merge;
    Means means;
    World<double> world(objective, options, &means);
    means.world = &world;
    for (int i = 0; i < 4; ++i) world.add(), world.run_for(300'000'000);
    world.cut({false, false, true, true}, 20'000'000'000);
    world.run_for(35'000'000'000);
    EXPECT_EQ(means.compared, merge == Merge::average ? 1 : 0);
    world.stop_run(0);
    ASSERT_TRUE(world.run_until_over(10'000'000'000));
    EXPECT_EQ(world.verify(), "");
    for (std::size_t i = 0; i < world.size(); ++i) {
      EXPECT_EQ(world.protocol(i).audit().abandoned.size(), 0u) << i;
      EXPECT_EQ(world.protocol(i).audit().digests.size(), 4u) << i;
    }
  }
}

}  // namespace
}  // namespace dasgd::elastic
