#include "dasgd/run/speeds.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

#include "dasgd/core/error.hpp"
#include "dasgd/run/options.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Speeds, OfAWorkerDependOnTheSeedAndItsNumberAlone) {
  const Speeds speeds = Speeds::parse("lognormal:0.5");
  const auto few = speeds.time_factors(3, 7), many = speeds.time_factors(100, 7);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(few, speeds.time_factors(3, 8));
}

TEST(Speeds, HaveTheSpreadThatWasAskedFor) {
  constexpr std::size_t workers = 20'000;
  double sum = 0, squares = 0;
  for (const double factor : Speeds::parse("lognormal:0.5").time_factors(workers, 1)) {
    sum += std::log(factor) / workers;
    squares += std::log(factor) * std::log(factor) / workers;
  }
  EXPECT_NEAR(sum, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares), 0.5, 0.02);
  auto factors = Speeds::parse("pareto:1.5").time_factors(workers, 1);
  std::sort(factors.begin(), factors.end());
  EXPECT_GE(factors.front(), 1);
  // P(factor > x) = x^-1.5: one in ten is slower than 10^(1/1.5).
  EXPECT_NEAR(factors[workers * 9 / 10], std::pow(10, 1 / 1.5), 0.2);
}

TEST(Speeds, ComeFromAFile) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("speeds", "1  # the usual one\n2\n0.5 4\n");
  EXPECT_THAT(Speeds::parse(path).time_factors(4, 1), ElementsAre(1, 0.5, 2, 0.25));
  EXPECT_THAT(Speeds::parse(path).time_factors(2, 1), ElementsAre(1, 0.5));
  const auto refusal = [](const std::string& text, std::size_t workers) {
    return test::message_of<InputError>([&] { Speeds::parse(text).time_factors(workers, 1); });
  };
  EXPECT_THAT(refusal(path, 5), HasSubstr("has 4 speeds for 5 workers"));
  EXPECT_THAT(refusal(directory.write("bad", "1\n-2\n"), 1), HasSubstr("bad:2: "));
  EXPECT_THAT(refusal("lognormal:x", 1), HasSubstr("x"));
  EXPECT_THAT(refusal("pareto:0", 1), HasSubstr("ALPHA must be positive"));
  EXPECT_THAT(refusal("normal:1", 1), HasSubstr("neither lognormal:SIGMA nor pareto:ALPHA"));
}

// In virtual time as drawn; real workers are not made faster, and keep the same proportions.
TEST(Speeds, OfRealWorkersAreInProportion) {
  TrainOptions options{.workers = 3};
  options.time_factors = {1, 0.5, 2};
  options.slow = {{WorkerId{2}, 3}};
  EXPECT_EQ(slow_factor(options, WorkerId{1}), 0.5);
  EXPECT_EQ(slow_factor(options, WorkerId{2}), 6);
  EXPECT_EQ(real_slow_factor(options, WorkerId{0}), 2);
  EXPECT_EQ(real_slow_factor(options, WorkerId{1}), 1);
  EXPECT_EQ(real_slow_factor(options, WorkerId{2}), 12);
  options.time_factors = {3, 2, 5};
  EXPECT_EQ(real_slow_factor(options, WorkerId{1}), 2);
  options.time_factors = {1};
  EXPECT_THROW(validate(options), InputError);
}

}  // namespace
}  // namespace dasgd
