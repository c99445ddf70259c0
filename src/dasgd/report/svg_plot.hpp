// Line charts and histograms with shaded bands, heat maps and time lines, as SVG.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/report/trace_digest.hpp"

namespace dasgd {

/// One line of a chart, with a band of y +- deviation or from low to high; both may be empty.
struct PlotSeries {
  std::string name;
  std::vector<double> x, y, deviation, low = {}, high = {};
};

struct PlotPanel {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;
  bool bars = false;  ///< a bar from each x to the next instead of a line
};

/// The panels side by side. Colours can be told apart by colour-blind readers. Values that are not
/// finite leave gaps.
std::string plot_svg(const std::vector<PlotPanel>& panels);

/// A square of cells, row by row; nothing where there is no value.
struct HeatMap {
  std::string title, x_label, y_label;
  std::size_t size = 0;
  std::size_t per_cell = 1;  ///< workers along a side of a cell
  std::function<std::optional<double>(std::size_t row, std::size_t column)> value;
};
std::string heat_map_svg(const HeatMap& map);

/// Every worker's computing as bars and its applications as ticks.
std::string time_line_svg(const std::string& title, const report::TraceDigest& trace);

}  // namespace dasgd
