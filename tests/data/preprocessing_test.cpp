#include "dasgd/data/preprocessing.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "dasgd/core/error.hpp"
#include "dasgd/data/moments.hpp"
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

TEST(Preprocessing, MissingPixelsGetTheMeanOfTheirChannelOrTheValueOfTheirPlace) {
  const FloatRows images({1, 3, NAN, 9, 3, NAN, 5, 9, 3, 5, 5, 9},
                         4);  // two channels of two pixels
  const auto fitted = [&](Missing missing) {
    Preprocessing p;
    p.shape = {2, 1, 2};
    p.scale = Scale::standard;
    p.missing = missing;
    fit(p, images, {}, "t");
    return preprocessing_from_json(to_json(p), "preprocessing.json");
  };
  EXPECT_THAT(fitted(Missing::mean).fill, ElementsAre(3, 3, 7.4f, 7.4f));
  EXPECT_THAT(fitted(Missing::median).fill, ElementsAre(3, 4, 5, 9));
  EXPECT_THAT(fitted(Missing::most_frequent).fill, ElementsAre(3, 3, 5, 9));
  std::vector<float> image{NAN, NAN, NAN, 7.4f};
  fitted(Missing::mean).apply(image);
  EXPECT_THAT(image, ElementsAre(0, 0, 0, 0));
}

TEST(Preprocessing, WholeNumbersThatMissNoneAreFilledInLaterWhereThatWasAskedFor) {
  for (const Scale scale : {Scale::standard, Scale::none, Scale::by_255}) {
    Preprocessing p = rows_of(2);
    p.scale = scale;
    p.missing = Missing::mean;
    fit(p, ByteRows({1, 2, 3, 6}, 2), {}, "t");
    EXPECT_THAT(p.fill, ElementsAre(2, 4)) << to_string(scale);
  }
}

TEST(Preprocessing, ColumnsInAnyUnitAreScaledAndConstantOnesOnlyShifted) {
  Preprocessing p = rows_of(5);
  p.missing = Missing::mean;
  std::vector<float> numbers{NAN, NAN, 0, 0, 0.1f};
  for (int i = 0; i < 20'000; ++i) {
    const float sign = i % 2 == 0 ? 1.0f : -1.0f;
    numbers.insert(numbers.end(), {0.1f, 2e-9f + sign * 1e-9f, sign * 1e-40f, sign * 1e30f, 0.1f});
  }
  fit(p, FloatRows(numbers, 5), {}, "t");
  EXPECT_THAT(p.mean, ElementsAre(0.1f, FloatNear(2e-9f, 1e-14f), 0, FloatNear(0, 1e20f), 0.1f));
  EXPECT_THAT(p.factor, ElementsAre(1, FloatNear(1e9f, 1e5f), 1, FloatNear(1e-30f, 1e-33f), 1));
}

TEST(Preprocessing, NumbersThatNobodyLearnsFromAreLookedAtAsWell) {
  const FloatRows rows({1, 2, 3, NAN, INFINITY, 6}, 2);
  const auto refusal = [&](std::vector<std::uint32_t> of, bool may_miss) {
    return test::message_of<InputError>([&] { require_numbers(rows, of, may_miss, "t"); });
  };
  EXPECT_EQ(refusal({0}, false), "");
  EXPECT_EQ(refusal({0, 1}, true), "");
  EXPECT_THAT(refusal({0, 1}, false), HasSubstr("t: row 2, number 2 is missing"));
  EXPECT_THAT(refusal({}, true), HasSubstr("t: row 3, number 1 is infinite"));
}

TEST(Preprocessing, TargetsAreMeasuredInTheirOwnUnitsOverTheTrainingPart) {
  const std::vector<std::uint32_t> rows{0, 1};
  const auto two = fit_target(std::vector<double>{1, 3, 1000}, rows);
  EXPECT_EQ(two->mean, 2);
  EXPECT_EQ(two->deviation, 1);
  const auto small = fit_target(std::vector<double>{1e-9, 3e-9}, {});
  EXPECT_DOUBLE_EQ(small->mean, 2e-9);
  EXPECT_DOUBLE_EQ(small->deviation, 1e-9);
  const auto constant = fit_target(std::vector<double>{0.1, 0.1, 0.1}, {});
  EXPECT_EQ(constant->mean, 0.1);
  EXPECT_EQ(constant->deviation, 1);
  EXPECT_FALSE(fit_target(std::vector<double>{1, INFINITY}, {}));
}

TEST(Preprocessing, TargetsThatAreNumbersAreStandardisedUnlessOnlyInputsAreToBe) {
  std::vector<double> targets;
  for (int i = 0; i < 100; ++i) targets.push_back(1000 + i % 10);
  const auto values_of = [&](Scale scale) {
    const auto samples = test::table_samples(std::vector<float>(100, 1), 1, targets, false, scale);
    std::vector<std::uint32_t> all(samples->count(Part::train));
    std::iota(all.begin(), all.end(), 0u);
    SampleBatch batch;
    samples->gather(Part::train, all, nullptr, batch);
    EXPECT_EQ(samples->preprocessing()->target.has_value(), scale == Scale::standard);
    EXPECT_EQ(samples->target(Part::train, 0), targets[samples->parts()[Part::train].row(0)]);
    Moments found;
    for (const float value : batch.values) found.add(value);
    return found;
  };
  EXPECT_NEAR(values_of(Scale::standard).mean, 0, 1e-6);
  EXPECT_NEAR(values_of(Scale::standard).variance(), 1, 1e-6);
  for (const Scale scale : {Scale::inputs, Scale::none, Scale::by_255})
    EXPECT_NEAR(values_of(scale).mean, 1004.5, 0.5);
}

TEST(Preprocessing, ClassesHaveNoTargetScale) {
  const auto samples =
      test::table_samples(std::vector<float>(100), 1, std::vector<double>(100), true);
  EXPECT_FALSE(samples->preprocessing()->target);
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
  EXPECT_FALSE(back.target) << "as in files of earlier versions";
  p.target = {1000.1, 0.3};
  const auto target = preprocessing_from_json(to_json(p), "p").target;
  ASSERT_TRUE(target);
  EXPECT_EQ(target->mean, 1000.1);
  EXPECT_EQ(target->deviation, 0.3);
  EXPECT_THAT(test::message_of<InputError>([] { preprocessing_from_json("{}", "p.json"); }),
              HasSubstr("p.json: is not a valid description of preprocessing"));
  p.mean.push_back(1);
  EXPECT_THAT(test::message_of<InputError>([&] { preprocessing_from_json(to_json(p), "p"); }),
              HasSubstr("do not match its shape"));
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
