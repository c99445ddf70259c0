// Columns of texts, dates, booleans and numbers with decimal commas.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/data/preprocessing.hpp"
#include "dasgd/data/rows/csv_file.hpp"
#include "dasgd/data/rows/field_forms.hpp"
#include "support/message.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;
using Kind = ColumnEncoding::Kind;

RawData read_table(const std::string& text, const TableOptions& options = {}) {
  return read_csv(text, "t.csv", options);
}

std::vector<float> row_of(const RawData& data, std::size_t at) {
  std::vector<float> numbers(data.inputs->width());
  data.inputs->copy(at, numbers);
  return numbers;
}

std::string message_for(const std::string& text, const TableOptions& options = {}) {
  return test::message_of<InputError>([&] { read_table(text, options); });
}

Preprocessing model_of(const RawData& data, Missing missing = Missing::mean) {
  Preprocessing model;
  model.shape = data.shape;
  model.columns = data.columns;
  model.label = data.label;
  model.label_at = data.label_at;
  model.label_comma = data.label_comma;
  model.encoding = data.encoding;
  model.missing = missing;
  fit(model, *data.inputs, {}, data.path);
  return preprocessing_from_json(to_json(model), "preprocessing.json");
}

TEST(TableColumns, ATextIsANumberForEachOfItsValuesTheMostFrequentFirst) {
  const RawData data = read_table("x,city,y\n1,Bonn,0\n2,Ulm,1\n3,Ulm,0\n4,\"Ulm\",1\n");
  EXPECT_THAT(data.columns, ElementsAre("x", "city=Ulm", "city=Bonn"));
  EXPECT_THAT(row_of(data, 0), ElementsAre(1, 0, 1));
  EXPECT_THAT(row_of(data, 3), ElementsAre(4, 1, 0));
  EXPECT_EQ(data.shape.front(), 3);
  ASSERT_EQ(data.encoding.size(), 2u);
  EXPECT_EQ(data.encoding[1].kind, Kind::category);
}

TEST(TableColumns, AModelKnowsItsValuesAndOthersAreZerosEverywhere) {
  const RawData data = read_table("city,x,y\nBonn,1,0\nUlm,2,1\nUlm,3,0\n");
  const Preprocessing model = model_of(data);
  const RawData asked = read_table("x,city\n7,Rom\n8,Bonn\n9,\n", {.like = &model});
  EXPECT_THAT(row_of(asked, 0), ElementsAre(0, 0, 7));
  EXPECT_THAT(row_of(asked, 1), ElementsAre(0, 1, 8));
  EXPECT_THAT(row_of(asked, 2), ElementsAre(0, 0, 9));
  ASSERT_EQ(asked.unknown.size(), 1u);
  EXPECT_EQ(asked.unknown[0], std::pair(std::string("city"), std::size_t{1}));
  EXPECT_THAT(message_for("x\n1\n", {.like = &model}), HasSubstr("has no column \"city\""));
  const RawData by_order = read_table("Ulm,5\n", {.like = &model});
  EXPECT_THAT(row_of(by_order, 0), ElementsAre(1, 0, 5));
}

TEST(TableColumns, MoreValuesThanAHundredShareTheRestByTheirHash) {
  std::string text = "name,y\n";
  for (int i = 0; i < 600; ++i)
    text += "n" + std::to_string(i % 150) + "," + std::to_string(i % 2) + "\n";
  const RawData data = read_table(text);
  EXPECT_EQ(data.encoding[0].values.size(), ColumnEncoding::most_values);
  EXPECT_EQ(data.inputs->width(), ColumnEncoding::most_values + ColumnEncoding::hash_places);
  for (std::size_t r = 0; r < 150; ++r) {
    const std::vector<float> row = row_of(data, r);
    EXPECT_EQ(std::count(row.begin(), row.end(), 1.0f), 1);
    EXPECT_EQ(row, row_of(data, r + 150));
  }
}

TEST(TableColumns, TextsOfTheirOwnInEveryRowAreLeftOut) {
  std::string text = "id,x,y\n";
  for (int i = 0; i < 200; ++i) text += "u-" + std::to_string(i) + "," + std::to_string(i) + ",1\n";
  const RawData data = read_table(text);
  EXPECT_THAT(data.columns, ElementsAre("x"));
  const Preprocessing model = model_of(data);
  EXPECT_THAT(row_of(read_table("x\n3\n", {.like = &model}), 0), ElementsAre(3));
  EXPECT_THAT(row_of(read_table("x,id\n3,u\n", {.like = &model}), 0), ElementsAre(3));
}

TEST(TableColumns, AMissingTextIsACategoryOfItsOwnOrTheMostFrequentOne) {
  const std::string text = "city,x,y\nUlm,1,0\n,2,1\nUlm,,0\nNA,4,1\nBonn,4,1\n";
  const RawData own = read_table(text, {.missing = Missing::mean});
  EXPECT_THAT(own.columns, ElementsAre("city=(missing)", "city=Ulm", "city=Bonn", "x"));
  EXPECT_THAT(row_of(own, 1), ElementsAre(1, 0, 0, 2));
  EXPECT_THAT(row_of(own, 2), ElementsAre(0, 1, 0, IsNan()));
  const Preprocessing model = model_of(own);
  EXPECT_THAT(row_of(read_table("city,x\n?,1\n", {.like = &model}), 0), ElementsAre(1, 0, 0, 1));
  const RawData frequent = read_table(text, {.missing = Missing::most_frequent});
  EXPECT_THAT(frequent.columns, ElementsAre("city=Ulm", "city=Bonn", "x"));
  EXPECT_THAT(row_of(frequent, 1), ElementsAre(1, 0, 2));
  EXPECT_EQ(read_table(text, {.missing = Missing::drop}).rows(), 2u);
  EXPECT_THAT(message_for(text), HasSubstr("t.csv:3: column 1 is empty"));
}

TEST(TableColumns, MedianAndMostFrequentFillNumbers) {
  const std::string text = "x,y\n1,0\n1,1\n4,0\n,1\n10,1\n9,1\n";
  EXPECT_FLOAT_EQ(model_of(read_table(text, {.missing = Missing::mean}), Missing::mean).fill[0], 5);
  EXPECT_FLOAT_EQ(model_of(read_table(text, {.missing = Missing::median}), Missing::median).fill[0],
                  4);
  const auto frequent = Missing::most_frequent;
  EXPECT_FLOAT_EQ(model_of(read_table(text, {.missing = frequent}), frequent).fill[0], 1);
}

TEST(TableColumns, CategoriesAreNotScaled) {
  const Preprocessing model = model_of([] {
    RawData data = read_table("city,x,y\nUlm,1,0\nBonn,2,1\nUlm,3,0\n");
    return data;
  }());
  EXPECT_TRUE(model.mean.empty());
  Preprocessing scaled = model;
  scaled.scale = Scale::standard;
  scaled.fill.clear();
  const RawData data = read_table("city,x,y\nUlm,1,0\nBonn,2,1\nUlm,3,0\n");
  fit(scaled, *data.inputs, {}, "t.csv");
  EXPECT_THAT(scaled.mean, ElementsAre(0, 0, 2));
  EXPECT_EQ(scaled.factor[0], 1);
}

TEST(TableColumns, DatesAreDaysSeasonsAndDaysOfTheWeek) {
  const RawData data = read_table("when,y\n2000-01-01,0\n2024-02-29,1\n2024-03-01,1\n");
  ASSERT_EQ(data.inputs->width(), 10u);
  EXPECT_EQ(data.columns[0], "when.days");
  EXPECT_EQ(data.columns[8], "when.saturday");
  const auto first = row_of(data, 0), leap = row_of(data, 1), next = row_of(data, 2);
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(first[8], 1) << "it was a Saturday";
  EXPECT_EQ(next[0], leap[0] + 1);
  EXPECT_EQ(leap[6], 1) << "a Thursday";
  EXPECT_EQ(next[7], 1);
}

TEST(TableColumns, DatesAreUnderstoodAsPeopleWriteThem) {
  const auto days = [](const char* text, DateForm form) {
    const auto read = read_date(text, form);
    return read ? read->days : -1e9;
  };
  EXPECT_EQ(days("2000-01-02", DateForm::year_month_day), 1);
  EXPECT_EQ(days("2000/1/2", DateForm::year_month_day), 1);
  EXPECT_EQ(days("02.01.2000", DateForm::day_month_year), 1);
  EXPECT_EQ(days("2.1.2000", DateForm::day_month_year), 1);
  EXPECT_EQ(days("01/02/2000", DateForm::month_day_year), 1);
  EXPECT_EQ(days("2000-01-02T12:00", DateForm::year_month_day), 1.5);
  EXPECT_EQ(days("2000-01-02 06:00:00.25Z", DateForm::year_month_day), 1.25);
  EXPECT_EQ(days("2000-01-02T02:00:00+02:00", DateForm::year_month_day), 1);
  EXPECT_EQ(days("1999-12-31", DateForm::year_month_day), -1);
  for (const char* none : {"2001-02-29", "2000-13-01", "2000-1-", "2000-01-02x", "2000-01-02T",
                           "2000-01-02T25:00", "20000102", "2000-01/02", ""})
    EXPECT_FALSE(read_date(none, DateForm::year_month_day)) << none;
}

TEST(TableColumns, ADayAboveTwelveShowsWhetherDaysOrMonthsComeFirst) {
  EXPECT_EQ(read_table("d,y\n03/04/2024,0\n25/04/2024,1\n").encoding[0].form,
            DateForm::day_month_year);
  EXPECT_EQ(read_table("d,y\n03/04/2024,0\n04/25/2024,1\n").encoding[0].form,
            DateForm::month_day_year);
}

TEST(TableColumns, BooleansAreZeroAndOne) {
  const RawData data = read_table("a,b,c,y\ntrue,ja,Y,0\nFALSE,nein,n,1\n");
  EXPECT_THAT(row_of(data, 0), ElementsAre(1, 1, 1));
  EXPECT_THAT(row_of(data, 1), ElementsAre(0, 0, 0));
  EXPECT_THAT(data.columns, ElementsAre("a", "b", "c"));
}

TEST(TableColumns, GermanTablesHaveSemicolonsAndDecimalCommas) {
  const RawData data = read_table(
      "Fläche;Preis;Anzahl;Ort;Miete\n70,5;1.234,50;3;Ulm;-0,5\n12,25;999;4;Bonn;1.000,25\n");
  EXPECT_THAT(row_of(data, 0), ElementsAre(70.5f, 1234.5f, 3, 0, 1));
  EXPECT_THAT(row_of(data, 1), ElementsAre(12.25f, 999, 4, 1, 0));
  EXPECT_THAT(data.labels.values, ElementsAre(-0.5, 1000.25));
  EXPECT_TRUE(data.encoding[2].is_plain());
  const Preprocessing model = model_of(data);
  const RawData asked =
      read_table("Anzahl;Ort;Preis;Fläche;Miete\n1;Ulm;2.000;1,5;7,5\n", {.like = &model});
  EXPECT_THAT(row_of(asked, 0), ElementsAre(1.5f, 2000, 1, 0, 1));
  EXPECT_THAT(asked.labels.values, ElementsAre(7.5));
  const RawData bare = read_table("1,5;2,5;0\n3,5;4,5;1\n");
  EXPECT_THAT(row_of(bare, 1), ElementsAre(3.5f, 4.5f));
}

TEST(TableColumns, DecimalCommasMayBeQuotedBesideWholeNumbersThatAreNot) {
  const std::string text = "size,x,rent\n\"1,5\",7,\"10,25\"\n2,\"8,5\",11\n12,9,12\n";
  const RawData data = read_table(text, {.classes = false});
  EXPECT_THAT(row_of(data, 0), ElementsAre(1.5f, 7));
  EXPECT_THAT(row_of(data, 1), ElementsAre(2, 8.5f));
  EXPECT_THAT(row_of(data, 2), ElementsAre(12, 9));
  EXPECT_THAT(data.labels.values, ElementsAre(10.25, 11, 12));
}

TEST(TableColumns, PointsStayPointsWhereNothingNeedsAComma) {
  EXPECT_THAT(row_of(read_table("a;y\n1.234;0\n5.678;1\n"), 0), ElementsAre(1.234f));
}

TEST(TableColumns, AStrayTextAmongNumbersIsAMistakeAndManyAreACategory) {
  std::string text = "x,y\n";
  for (int i = 0; i < 60; ++i) text += std::to_string(i) + ",1\n";
  EXPECT_THAT(message_for(text + "soon,0\n"),
              HasSubstr("t.csv:62: column 1: \"soon\" is not a number; `exclude` x leaves"));
  for (int i = 0; i < 60; ++i) text += "soon,1\n";
  EXPECT_EQ(read_table(text).encoding[0].kind, Kind::category);
}

TEST(TableColumns, ALargeFileIsReadAgainWhereItsSampleIsNotEnough) {
  std::string text = "x,y\n";
  for (int i = 0; i < 800'000; ++i) text += i / 100'000 == 2 ? "ab,1\n" : "1,0\n";
  const RawData data = read_table(text);
  EXPECT_EQ(data.encoding.at(0).kind, Kind::category);
  EXPECT_THAT(row_of(data, 0), ElementsAre(1, 0));
  EXPECT_THAT(row_of(data, 250'000), ElementsAre(0, 1));
}

TEST(TableColumns, TextsThatRepeatAcrossALargeFileAreNotLeftOut) {
  std::string text = "user,y\n";
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 100'000; ++i) text += "user-number-" + std::to_string(i) + ",1\n";
  EXPECT_EQ(read_table(text).encoding.at(0).kind, Kind::category);
}

TEST(TableColumns, WhatIsMissingIsFilledInAndScaledAsInTraining) {
  const RawData data =
      read_table("when,y\n2000-01-02,0\n,1\n2000-01-04,1\n", {.missing = Missing::mean});
  const Preprocessing model = model_of(data);
  std::vector<float> row = row_of(data, 1);
  model.apply(row);
  EXPECT_FLOAT_EQ(row[0], 2);
  EXPECT_FLOAT_EQ(row[9], 0.5f) << "half of the days are Sundays";
}

TEST(TableColumns, AnEncodingThatDoesNotFitItsShapeIsRefused) {
  const RawData data = read_table("city,y\nUlm,0\nBonn,1\n");
  Preprocessing model = model_of(data);
  model.shape = {5};
  model.fill.assign(5, 0.0f);
  EXPECT_THAT(
      test::message_of<InputError>([&] { preprocessing_from_json(to_json(model), "p.json"); }),
      HasSubstr("its lists do not match its shape"));
}

}  // namespace
}  // namespace dasgd
