// Updates of few bits: nothing is lost, and packing needs no more bits than are said.
#include "dasgd/core/few_bits.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <rapidcheck/gtest.h>

#include "support/message.hpp"

namespace dasgd {
namespace {

template <typename Real>
std::vector<Real> drawn(std::mt19937_64& random, std::size_t d, double scale) {
  std::vector<Real> g(d);
  for (std::size_t i = 0; i < d; ++i)  // blocks of different sizes, zeros among them
    g[i] = static_cast<Real>(i % 7 == 0 ? 0
                                        : scale * std::exp(std::normal_distribution()(random) * 3) *
                                              std::normal_distribution()(random));
  return g;
}

template <typename Real>
void add_to(std::vector<Sum<Real>>& sums, const Update& update) {
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] += static_cast<Sum<Real>>(update.numbers<Real>()[i]) * (Sum<Real>{1} << update.shift);
}

template <typename Real>
class FewBitsTest : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FewBitsTest, Reals);

TYPED_TEST(FewBitsTest, SentAndResidualAreTheSumOfFullUpdates) {
  for (const auto format :
       {MessageFormat::full, MessageFormat::int8, MessageFormat::int4, MessageFormat::ternary}) {
    const std::size_t d = 1000;
    std::mt19937_64 random(5);
    FewBits<TypeParam> few(format, d);
    std::vector<Sum<TypeParam>> full(d, 0), sent(d, 0);
    for (int step = 0; step < 50; ++step) {
      const auto g = drawn<TypeParam>(random, d, std::pow(10.0, step % 9 - 9));
      Update exact, update;
      exact.resize<TypeParam>(d);
      exact.shift = round_gradient<TypeParam>(-0.1, g, exact.numbers<TypeParam>()).shift;
      add_to<TypeParam>(full, exact);
      ASSERT_FALSE(few.make(0.1, g, update));
      add_to<TypeParam>(sent, update);
      EXPECT_EQ(update.shift % 2, 0);
      EXPECT_LE(update.shift, FixedPoint<TypeParam>::largest_shift);
      for (std::size_t i = 0; i < d; ++i)
        ASSERT_TRUE(sent[i] + few.residual()[i] == full[i]) << to_string(format) << ' ' << i;
    }
  }
}

// What is left of a block is half of its unit at most, and numbers have the bits that they say.
TYPED_TEST(FewBitsTest, NumbersOfABlockHaveFewBits) {
  for (const auto format : {MessageFormat::int8, MessageFormat::int4, MessageFormat::ternary}) {
    const std::size_t d = 1000;
    std::mt19937_64 random(6);
    FewBits<TypeParam> few(format, d);
    Update update;
    ASSERT_FALSE(few.make(1, drawn<TypeParam>(random, d, 0.01), update));
    const int most = (1 << (bits_of(format, number_format<TypeParam>) - 1)) - 1;
    for (std::size_t b = 0; b < d; b += block_size) {
      Number<TypeParam> together = 0, largest = 0;
      for (std::size_t i = b; i < std::min(b + block_size, d); ++i) {
        const auto n = update.numbers<TypeParam>()[i];
        together |= n < 0 ? -n : n;
        largest = std::max<Number<TypeParam>>(largest, n < 0 ? -n : n);
      }
      if (together == 0) continue;
      while (together % 2 == 0) together /= 2, largest /= 2;
      EXPECT_LE(largest, most) << to_string(format);
    }
  }
}

TYPED_TEST(FewBitsTest, WhatDivergesChangesNothing) {
  FewBits<TypeParam> few(MessageFormat::int8, 3);
  Update update;
  ASSERT_FALSE(few.make(1, std::vector<TypeParam>{1, 0.001, 0}, update));
  const std::vector<Sum<TypeParam>> before(few.residual().begin(), few.residual().end());
  EXPECT_EQ(few.make(1, std::vector<TypeParam>{0, NAN, 0}, update), 1u);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), few.residual().begin()));
}

TEST(MessageFormats, HaveNamesAndSizes) {
  for (const char* name : {"full", "int8", "int4", "ternary"})
    EXPECT_EQ(to_string(parse_message_format(name)), name);
  EXPECT_EQ(test::message_of<InputError>([] { parse_message_format("int9"); }),
            "unknown message format \"int9\"; did you mean \"int8\"?");
  EXPECT_EQ(message_bytes(MessageFormat::full, NumberFormat::of_float, 1000, 1), 4000u);
  EXPECT_EQ(message_bytes(MessageFormat::int8, NumberFormat::of_float, 1024, 1), 1024u + 8);
  EXPECT_EQ(message_bytes(MessageFormat::int8, NumberFormat::of_float, 1024, 16),
            1024u * 12 / 8 + 8);
}

}  // namespace
}  // namespace dasgd
