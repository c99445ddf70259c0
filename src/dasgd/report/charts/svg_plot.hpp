// Line charts and histograms with shaded bands, heat maps and time lines, as SVG.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/report/trace_digest.hpp"

namespace dasgd {

/// One line of a chart, or its dots, with a band of y +- deviation or from low to high; both may be
/// empty. Without a name it is not in the legend.
struct PlotSeries {
  enum class Look { line, dashed, dots };
  std::string name;
  std::vector<double> x, y, deviation;
  Look look = Look::line;
  std::optional<std::size_t> colour = {};  ///< of the palette; by default its place in the panel
  std::vector<double> low = {}, high = {};
  std::optional<std::size_t> marker = {};  ///< a shape on the line, or instead of dots
};

struct PlotPanel {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;
  bool from_zero = true;  ///< of y, where it is not logarithmic
  bool bars = false;      ///< a bar from each x to the next instead of a line
  std::vector<double> x_reach = {}, y_reach = {};  ///< what the axes must reach as well
};

/// Letters are 12 high.
inline constexpr double usual_panel_width = 430;

/// The panels in rows of `columns`, by default side by side. Colours can be distinguished by
/// colour-blind readers. Values that are not finite leave gaps.
std::string plot_svg(const std::vector<PlotPanel>& panels, std::size_t columns = 100,
                     double panel_width = usual_panel_width);

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
