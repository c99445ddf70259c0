#include "dasgd/report/charts/svg_frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>

namespace dasgd::svg {
namespace {

using ::testing::HasSubstr;

TEST(SvgFrame, LabelsOfAnAxisAreRegularAndHaveRoom) {
  for (const double width : {120., 240., 330., 400., 900.}) {
    const Axis x(Range{0, 17'000}, 60, 60 + width);
    const std::string text = frame({60, 30, 60 + width, 200}, "", "", "", x, nullptr);
    const std::regex label("<text x=\"([0-9.]+)\" y=\"216\" text-anchor=\"middle\">([0-9,]+)<");
    std::vector<double> at, values;
    double letters = 0;
    for (std::sregex_iterator found(text.begin(), text.end(), label), end; found != end; ++found) {
      at.push_back(std::stod((*found)[1]));
      std::string number = (*found)[2];
      std::erase(number, ',');
      values.push_back(std::stod(number));
      letters = std::max(letters, static_cast<double>((*found)[2].length()));
    }
    ASSERT_GE(at.size(), 2u) << width;
    for (std::size_t k = 1; k < at.size(); ++k) {
      EXPECT_GE(at[k] - at[k - 1], 8 * letters) << width;
      EXPECT_EQ(values[k] - values[k - 1], values[1] - values[0]) << width;
    }
  }
}

TEST(SvgFrame, NumbersOfAnAxisAreWrittenAsInTables) {
  const auto labels = [](double most) {
    const Axis y(Range{0, most}, 200, 30);
    return frame({60, 30, 400, 200}, "", "", "", Axis(Range{0, 1}, 60, 400), &y);
  };
  EXPECT_THAT(labels(200'000), HasSubstr(">200,000<"));
  EXPECT_THAT(labels(5'000), HasSubstr(">5,000<"));
  EXPECT_THAT(labels(2e7), HasSubstr(">2e7<"));
  EXPECT_THAT(labels(0.5), HasSubstr(">0.5<"));
}

}  // namespace
}  // namespace dasgd::svg
