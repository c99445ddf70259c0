#include "dasgd/lab/rivals/vectors.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "dasgd/lab/rivals/mixing.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

std::vector<float> drawn(std::uint32_t stream, std::size_t size) {
  Random random(1, Purpose::test, stream);
  std::vector<float> numbers(size);
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

// Compared to the bit where narrow registers do not fuse.
void expect_same(float a, float b) {
#ifdef __x86_64__
  EXPECT_EQ(a, b);
#else
  EXPECT_FLOAT_EQ(a, b);
#endif
}

TEST(Vectors, RoundEachProductHoweverWideRegistersAre) {
  const std::vector<float> before = drawn(0, 1001), y = drawn(1, 1001);
  std::vector<float> more = before, less = before;
  add<float>(more, 0.3, y);
  subtract<float>(less, 0.3, y);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const volatile float product = 0.3f * y[i];
    expect_same(more[i], before[i] + product);
    expect_same(less[i], before[i] - product);
  }
}

TEST(Mixing, OfPartsIsThatOfWholeModels) {
  constexpr std::size_t size = 10'000;
  const std::vector<std::vector<float>> models{drawn(0, size), drawn(1, size), drawn(2, size)};
  const rivals::MixingRow row{{0, 1, 2}, {0.2, 0.5, 0.3}};
  std::vector<float> whole = models[0];
  scale<float>(whole, row.weight[0]);
  for (std::size_t k = 1; k < models.size(); ++k) add<float>(whole, row.weight[k], models[k]);
  const std::vector<std::span<const float>> spans(models.begin(), models.end());
  EXPECT_EQ(rivals::combine<float>(row, spans), whole);
}

}  // namespace
}  // namespace dasgd
