#include "dasgd/data/preprocessing.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/data/preparation/data_parts.hpp"
#include "support/message.hpp"
#include "support/tables.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

Preprocessing rows_of(std::int64_t columns) {
  Preprocessing p;
  p.shape = {columns};
  p.scale = Scale::standard;
  return p;
}

TEST(Preprocessing, ScalesColumnsToMeanZeroAndDeviationOne) {
  std::vector<float> numbers;
  for (int i = 0; i < 20'000; ++i)
    numbers.insert(numbers.end(), {1e6f + static_cast<float>(i % 100), 7});
  Preprocessing p = rows_of(2);
  fit(p, FloatRows(numbers, 2), {}, "t");
  EXPECT_THAT(p.mean, ElementsAre(FloatNear(1e6f + 49.5f, 0.1f), 7));
  EXPECT_THAT(p.factor, ElementsAre(FloatNear(1 / 28.866f, 1e-4f), 1));
}

TEST(Preprocessing, OnlyTheRowsOfTheTrainingPartCount) {
  Preprocessing p = rows_of(1);
  const std::vector<std::uint32_t> rows{0, 1};
  fit(p, FloatRows({1, 3, 1000}, 1), rows, "t");
  EXPECT_THAT(p.mean, ElementsAre(2));
}

TEST(Preprocessing, MissingNumbersGetTheMeanOfTheirColumn) {
  Preprocessing p = rows_of(2);
  const FloatRows rows({1, 2, NAN, 4, 3, NAN}, 2);
  EXPECT_THAT(test::message_of<InputError>([&] { fit(p, rows, {}, "t"); }),
              HasSubstr("t: row 2, number 1 is missing"));
  p.missing = Missing::mean;
  fit(p, rows, {}, "t");
  EXPECT_THAT(p.fill, ElementsAre(2, 3));
  std::vector<float> sample{NAN, 4};
  p.apply(sample);
  EXPECT_THAT(sample, ElementsAre(0, 1));
}

TEST(Preprocessing, ComesBackFromItsText) {
  Preprocessing p = rows_of(2);
  p.mean = {0.1f, 1e-30f};
  p.factor = {3, 4};
  p.columns = {"a", "b"};
  p.label = "y";
  p.label_at = 2;
  p.classes = {"no", "yes"};
  p.missing = Missing::mean;
  p.fill = {5, 6};
  const Preprocessing back = preprocessing_from_json(to_json(p), "p");
  EXPECT_EQ(to_json(back), to_json(p));
  EXPECT_EQ(back.mean, p.mean);
  EXPECT_THAT(test::message_of<InputError>([] { preprocessing_from_json("{}", "p.json"); }),
              HasSubstr("p.json: is not what a run says of its data"));
  p.mean.push_back(1);
  EXPECT_THAT(test::message_of<InputError>([&] { preprocessing_from_json(to_json(p), "p"); }),
              HasSubstr("do not belong to its shape"));
}

TEST(HoldOut, EveryRowIsInOnePartAndTheSeedSaysInWhich) {
  const auto parts_of = [](std::uint64_t seed) {
    DataParts parts =
        test::table_samples(std::vector<float>(100), 1, std::vector<double>(100), true)->parts();
    parts[Part::train].rows.reset();
    hold_out(parts, 0.25, seed);
    return parts;
  };
  const DataParts parts = parts_of(1);
  std::vector<int> seen(100);
  for (const Part part : {Part::train, Part::validation})
    for (const std::uint32_t row : *parts[part].rows) ++seen[row];
  EXPECT_EQ(seen, std::vector<int>(100, 1));
  EXPECT_EQ(parts[Part::validation].count(), 25u);
  EXPECT_EQ(parts_of(1)[Part::validation].rows, parts[Part::validation].rows);
  EXPECT_NE(parts_of(2)[Part::validation].rows, parts[Part::validation].rows);
}

}  // namespace
}  // namespace dasgd
