#include "dasgd/elastic/adoption/adoption.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "dasgd/core/fixed_point.hpp"

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

}  // namespace
}  // namespace dasgd::elastic
