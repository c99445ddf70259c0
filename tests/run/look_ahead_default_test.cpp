#include <gtest/gtest.h>

#include "dasgd/run/options.hpp"

namespace dasgd {
namespace {

LookAhead::Kind kind_of(const TrainOptions& options, std::size_t samples) {
  return look_ahead_of(options, samples).kind;
}

TEST(LookAheadByDefault, IsAutomaticWithMiniBatchesAndOffWhereTheTheoryHolds) {
  using Kind = LookAhead::Kind;
  TrainOptions options{.workers = 4};
  EXPECT_EQ(kind_of(options, 1000), Kind::automatic);
  EXPECT_EQ(kind_of(options, 1), Kind::off);  // no noise
  TrainOptions whole = options, alone = options, measured = options, target = options,
               many = options, given = options;
  whole.batch = 0;
  EXPECT_EQ(kind_of(whole, 1000), Kind::off);
  alone.workers = 1;
  alone.look_ahead = parse_look_ahead("1");
  EXPECT_EQ(kind_of(alone, 1000), Kind::off);
  measured.measure_gradients = true;
  EXPECT_EQ(kind_of(measured, 1000), Kind::off);
  target.target_error = 0.1;
  EXPECT_EQ(kind_of(target, 1000), Kind::off);
  many.workers = 2000;
  EXPECT_EQ(kind_of(many, 1'000'000), Kind::off);
  given.look_ahead = parse_look_ahead("0.5");
  EXPECT_EQ(kind_of(given, 1), Kind::fixed);
  EXPECT_EQ(look_ahead_of(given, 1).workers, 4u);
}

TEST(LookAheadByDefault, IsOffInTheRunsThatMeasureForTheTheory) {
  const TrainOptions bare = bare_run(TrainOptions{.workers = 4}, 0.1);
  EXPECT_EQ(kind_of(bare, 1000), LookAhead::Kind::off);
}

}  // namespace
}  // namespace dasgd
