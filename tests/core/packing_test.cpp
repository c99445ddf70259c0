#include "dasgd/core/packing.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <rapidcheck/gtest.h>

#include "dasgd/core/few_bits.hpp"

namespace dasgd {
namespace {

template <typename Number>
std::vector<Number> through(const std::vector<Number>& numbers) {
  const Bytes packed = pack(std::as_bytes(std::span(numbers)), sizeof(Number));
  std::vector<Number> back(numbers.size(), 99);
  EXPECT_TRUE(unpack(packed, sizeof(Number), std::as_writable_bytes(std::span(back))));
  return back;
}

template <typename Number>
class PackingTest : public ::testing::Test {};
using Numbers = ::testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(PackingTest, Numbers);

TYPED_TEST(PackingTest, ExtremesComeBack) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> numbers{0, 1, -1, Limits::max(), Limits::min(), 2, -2};
  EXPECT_EQ(through(numbers), numbers);
  EXPECT_EQ(through(std::vector<TypeParam>{}), std::vector<TypeParam>{});
  for (const TypeParam n : numbers) {
    const std::vector<TypeParam> one(300, n);
    EXPECT_EQ(through(one), one);
  }
}

TYPED_TEST(PackingTest, AnyNumbersComeBack) {
  rc::check([] {
    const auto width = *rc::gen::inRange(0, static_cast<int>(8 * sizeof(TypeParam)));
    const auto size = *rc::gen::inRange<std::size_t>(0, 1000);
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    std::vector<TypeParam> numbers(size);
    for (auto& n : numbers)
      n = static_cast<TypeParam>(static_cast<std::int64_t>(random()) >> (63 - width));
    RC_ASSERT(through(numbers) == numbers);
  });
}

TYPED_TEST(PackingTest, DamagedBytesAreRefusedOrReadWithoutHarm) {
  std::mt19937_64 random(8);
  std::vector<TypeParam> numbers(600);
  for (auto& n : numbers) n = static_cast<TypeParam>(random() % 512) - 256;
  const Bytes packed = pack(std::as_bytes(std::span(numbers)), sizeof(TypeParam));
  std::vector<TypeParam> back(numbers.size());
  const auto to = std::as_writable_bytes(std::span(back));
  for (std::size_t cut = 0; cut < packed.size(); ++cut)
    EXPECT_FALSE(unpack(std::span(packed).first(cut), sizeof(TypeParam), to));
  Bytes longer = packed;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(unpack(longer, sizeof(TypeParam), to));
  for (std::size_t i = 0; i < packed.size(); ++i) {
    Bytes damaged = packed;
    damaged[i] ^= std::byte{0xFF};
    unpack(damaged, sizeof(TypeParam), to);
  }
}

TEST(Packing, WideSumsComeBack) {
  std::mt19937_64 random(5);
  for (int width = 0; width < 128; ++width) {
    std::vector<Int128> sums(300);
    for (auto& n : sums) {
      const auto any = static_cast<UInt128>(random()) << 64 | random();
      n = static_cast<Int128>(any) >> (127 - width);
    }
    EXPECT_EQ(through(sums), sums) << width;
  }
}

TEST(Packing, UpdatesOfFewBitsTakeWhatTheirFormatSays) {
  const std::size_t d = 10'000;
  std::mt19937_64 random(4);
  std::vector<float> g(d);
  for (float& x : g) x = static_cast<float>(std::normal_distribution()(random));
  for (const auto format : {MessageFormat::int8, MessageFormat::int4, MessageFormat::ternary}) {
    FewBits<float> few(format, d);
    Update update;
    ASSERT_FALSE(few.make(0.1, g, update));
    EXPECT_LE(pack(update.bytes(), number_bytes(update.format())).size(),
              message_bytes(format, NumberFormat::of_float, d, 1))
        << to_string(format);
  }
}

}  // namespace
}  // namespace dasgd
