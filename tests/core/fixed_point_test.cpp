#include "dasgd/core/fixed_point.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <vector>

namespace dasgd {
namespace {

template <typename Real>
class FixedPointTest : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FixedPointTest, Reals);

template <typename Real>
double value(Number<Real> number, int shift) {
  return std::ldexp(static_cast<double>(number), shift + FixedPoint<Real>::unit_exponent);
}

/// Rounds without looking at sums and models.
template <typename Real>
AddedGradient quantise(double factor, const std::vector<Real>& gradient,
                       std::vector<Number<Real>>& numbers) {
  std::vector<Sum<Real>> sums(gradient.size());
  std::vector<Real> x(gradient.size());
  return add_gradient<Real>(factor, gradient, numbers, sums, x);
}

TYPED_TEST(FixedPointTest, RoundsToTheNearestRepresentableUpdate) {
  const std::vector<TypeParam> gradient{1, -0.375, 3e-5, 0, -1e-9};
  std::vector<Number<TypeParam>> numbers(gradient.size());
  const auto [shift, diverged, out_of_range] = quantise<TypeParam>(-0.1, gradient, numbers);
  ASSERT_FALSE(diverged);
  const double relative = std::is_same_v<TypeParam, float> ? 0x1p-22 : 0x1p-51;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double exact = -0.1 * static_cast<double>(gradient[i]);
    const double unit = value<TypeParam>(1, shift);
    EXPECT_NEAR(value<TypeParam>(numbers[i], shift), exact, unit / 2 + std::fabs(exact) * relative);
  }
}

TYPED_TEST(FixedPointTest, UsesTheFinestUnitThatFits) {
  std::vector<Number<TypeParam>> numbers(1);
  const auto tiny = quantise<TypeParam>(1, std::vector<TypeParam>{1e-12}, numbers);
  EXPECT_EQ(tiny.shift, 0);
  quantise<TypeParam>(1, std::vector<TypeParam>{1000}, numbers);
  EXPECT_GT(std::abs(static_cast<double>(numbers[0])),
            std::ldexp(1, FixedPoint<TypeParam>::update_bits - 2));
}

TYPED_TEST(FixedPointTest, NamesTheFirstCoordinateThatIsNotFinite) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  std::vector<Number<TypeParam>> numbers(4);
  EXPECT_EQ(quantise<TypeParam>(-0.1, std::vector<TypeParam>{1, 2, nan, 4}, numbers).diverged_at,
            2u);
  EXPECT_EQ(
      quantise<TypeParam>(-0.1, std::vector<TypeParam>{1, -infinity, nan, 4}, numbers).diverged_at,
      1u);
}

TYPED_TEST(FixedPointTest, NamesACoordinateThatStepsTooFar) {
  using Format = FixedPoint<TypeParam>;
  const auto limit = std::ldexp(1.0, Format::step_bits + Format::unit_exponent);
  std::vector<Number<TypeParam>> numbers(2);
  const std::vector<TypeParam> far{1, static_cast<TypeParam>(limit * 4)};
  EXPECT_EQ(quantise<TypeParam>(1, far, numbers).diverged_at, 1u);
  const std::vector<TypeParam> near{1, static_cast<TypeParam>(limit / 4)};
  EXPECT_FALSE(quantise<TypeParam>(1, near, numbers).diverged_at);
}

TYPED_TEST(FixedPointTest, AZeroGradientIsZeroWhateverTheStepSize) {
  std::vector<Number<TypeParam>> numbers(3, 7);
  const auto result = quantise<TypeParam>(-1e6, std::vector<TypeParam>(3, 0), numbers);
  EXPECT_FALSE(result.diverged_at);
  EXPECT_EQ(numbers, std::vector<Number<TypeParam>>(3, 0));
}

TYPED_TEST(FixedPointTest, ModelsSurviveTheRoundTrip) {
  const std::vector<TypeParam> x{0, 1, -2.5, 0.1f, 12345.678f, -1e-6f};
  std::vector<Sum<TypeParam>> sums(x.size());
  ASSERT_FALSE(from_real<TypeParam>(x, sums));
  std::vector<TypeParam> back(x.size());
  to_real<TypeParam>(sums, back);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(back[i], x[i], std::ldexp(1.0, FixedPoint<TypeParam>::unit_exponent));
}

TYPED_TEST(FixedPointTest, RefusesAStartOutOfRange) {
  std::vector<Sum<TypeParam>> sums(2);
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_EQ(from_real<TypeParam>(std::vector<TypeParam>{0, nan}, sums), 1u);
  EXPECT_EQ(from_real<TypeParam>(std::vector<TypeParam>{static_cast<TypeParam>(1e30), 0}, sums),
            0u);
}

TYPED_TEST(FixedPointTest, ReportsWhenASumLeavesTheRange) {
  using Format = FixedPoint<TypeParam>;
  std::vector<Sum<TypeParam>> sums{0, Sum<TypeParam>{1} << (Format::sum_bits - 1)};
  const std::vector<Number<TypeParam>> up{0, Number<TypeParam>{1} << (Format::update_bits - 1)};
  const Addend<TypeParam> addend{up.data(), Format::step_bits - Format::update_bits};
  std::optional<std::size_t> left;
  int passes = 0;
  while (!left && passes < 1000) {
    left = add_fused<TypeParam>(std::span(&addend, 1), sums);
    ++passes;
  }
  EXPECT_EQ(left, 1u);
  EXPECT_EQ(passes, 64);  // half the range, 2^-7 of the range at a time
}

/// Updates of the largest numbers there are, all of one sign at even coordinates, mixed at odd
/// ones; not aligned to anything.
template <typename Real>
struct Updates {
  Updates(std::size_t count, std::size_t dimension, bool one_shift) {
    const auto largest = Number<Real>{1} << FixedPoint<Real>::update_bits;
    for (std::size_t k = 0; k < count; ++k) {
      numbers.emplace_back(dimension + 1);
      for (std::size_t i = 0; i < dimension; ++i)
        numbers.back()[i + 1] =
            i % 2 == 0 ? (i % 4 == 0 ? largest : -largest)
                       : static_cast<Number<Real>>((i * 7919 + k * 104729) % 2003) - 1001;
      addends.push_back({nullptr, one_shift ? 4 : static_cast<int>(2 * (k % 3))});
    }
    for (std::size_t k = 0; k < count; ++k) addends[k].numbers = numbers[k].data() + 1;
  }
  std::vector<std::vector<Number<Real>>> numbers;
  std::vector<Addend<Real>> addends;
};

TYPED_TEST(FixedPointTest, AddsInOnePassWhatAPlainSumAdds) {
  for (const std::size_t dimension : {1u, 37u, 63u, 64u, 65u, 127u, 128u, 1000u}) {
    for (std::size_t count = 1; count <= max_fused; ++count) {
      for (const bool one_shift : {true, false}) {
        const Updates<TypeParam> updates(count, dimension, one_shift);
        std::vector<Sum<TypeParam>> fused(dimension, 5), plain(dimension, 5);
        EXPECT_EQ(add_fused<TypeParam>(updates.addends, fused), std::nullopt);
        for (const auto& addend : updates.addends)
          for (std::size_t i = 0; i < dimension; ++i)
            plain[i] += static_cast<Sum<TypeParam>>(addend.numbers[i]) *
                        (Sum<TypeParam>{1} << addend.shift);
        EXPECT_TRUE(fused == plain) << count << " of dimension " << dimension;
      }
    }
  }
}

// No update holds such numbers, but whoever sends one may write what it likes.
TEST(FixedPoint, NumbersOfOthersThatAreTooLargeWrap) {
  const std::vector<std::int32_t> numbers(131, std::numeric_limits<std::int32_t>::max());
  const std::vector<Addend<float>> updates(2, {numbers.data(), 0});
  std::vector<Sum<float>> sums(numbers.size(), 5);
  EXPECT_EQ(add_fused<float>(updates, sums), std::nullopt);
  EXPECT_EQ(sums, std::vector<Sum<float>>(numbers.size(), 3));
}

TYPED_TEST(FixedPointTest, ReportsWhichOfManySumsLeavesTheRange) {
  using Format = FixedPoint<TypeParam>;
  for (const std::size_t at : {0u, 70u, 127u, 128u, 130u}) {
    std::vector<Sum<TypeParam>> sums(131, 0);
    sums[at] = (Sum<TypeParam>{1} << Format::sum_bits) - 1;
    const std::vector<Number<TypeParam>> up(sums.size(), 1);
    const std::vector<Addend<TypeParam>> updates(max_fused, {up.data(), 0});
    EXPECT_EQ(add_fused<TypeParam>(updates, sums), at);
  }
}

TEST(FixedPoint, RoundingAloneGivesTheNumbersOfAnOwnGradient) {
  std::vector<float> gradient(3000), x(gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = std::sin(static_cast<float>(i));
  std::vector<std::int32_t> added(gradient.size()), rounded(gradient.size());
  std::vector<std::int64_t> sums(gradient.size(), 0);
  const AddedGradient whole = add_gradient<float>(-0.03, gradient, added, sums, x);
  const RoundedGradient alone = round_gradient<float>(-0.03, gradient, rounded);
  EXPECT_EQ(alone.shift, whole.shift);
  EXPECT_EQ(rounded, added);
  gradient[5] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_gradient<float>(-0.03, gradient, rounded).diverged_at, 5u);
}

}  // namespace
}  // namespace dasgd
