#include "dasgd/report/charts/pdf.hpp"

#include <cmath>
#include <gmock/gmock.h>

#include "dasgd/report/charts/svg_plot.hpp"

namespace dasgd {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string chart(double width = usual_panel_width) {
  PlotPanel panel{.title = "a (b)", .x_label = "seconds", .y_label = "loss & more"};
  panel.series.push_back({.name = "one",
                          .x = {0, 1, 2},
                          .y = {3, 2, 1},
                          .deviation = {0.1, 0.1, 0.1},
                          .colour = 1,
                          .marker = 2});
  return plot_svg({panel}, 1, width);
}

TEST(Pdf, IsAFileOfOnePageWithItsTexts) {
  const std::string pdf = svg::to_pdf(chart(), 0.5);
  EXPECT_THAT(pdf, AllOf(StartsWith("%PDF-1.4\n"), EndsWith("%%EOF\n"), HasSubstr("/Count 1"),
                         HasSubstr("(a \\(b\\)) Tj"), HasSubstr("(loss & more) Tj"),
                         HasSubstr("(one) Tj")));
  EXPECT_THAT(pdf, HasSubstr("/ca 0.200"));
  EXPECT_THAT(pdf, Not(HasSubstr("nan")));
}

TEST(Pdf, HasTheSizeOfThePictureTimesTheScale) {
  EXPECT_THAT(svg::to_pdf(chart(400), 0.5), HasSubstr("/MediaBox [0 0 200.00 "));
}

TEST(Pdf, ItsTableSaysWhereEveryObjectBegins) {
  const std::string pdf = svg::to_pdf(chart(), 1);
  const std::size_t table = pdf.find("xref\n");
  ASSERT_NE(table, pdf.npos);
  EXPECT_NE(pdf.find("startxref\n" + std::to_string(table) + "\n"), pdf.npos);
  std::size_t at = pdf.find(" 65535 f \n") + 10;
  for (int object = 1; object <= 6; ++object, at += 20)
    EXPECT_EQ(pdf.find(std::to_string(object) + " 0 obj"), std::stoul(pdf.substr(at, 10)));
}

TEST(Plot, AMethodHasItsMarkerOnTheLineAndInTheLegend) {
  const std::string svg = chart();
  std::size_t shapes = 0;
  for (std::size_t at = svg.find("<polygon"); at != svg.npos; at = svg.find("<polygon", at + 1))
    ++shapes;
  EXPECT_GE(shapes, 3u);  // the band, markers, the legend
}

TEST(Plot, APointWithoutNeighboursHasAMarker) {
  PlotPanel panel{.title = "", .x_label = "", .y_label = ""};
  panel.series.push_back({.name = "", .x = {1}, .y = {3}, .deviation = {0.5}});
  panel.series.push_back({.name = "", .x = {1, 2, 3}, .y = {2, std::nan(""), 4}, .deviation = {}});
  EXPECT_THAT(plot_svg({panel}), ContainsRegex("<circle(.|\n)*<circle(.|\n)*<circle"));
}

}  // namespace
}  // namespace dasgd
