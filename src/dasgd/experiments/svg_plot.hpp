// Line charts with shaded deviations, as SVG.
#pragma once

#include <string>
#include <vector>

namespace dasgd {

/// One line of a chart; `deviation` may be empty.
struct PlotSeries {
  std::string name;
  std::vector<double> x, y, deviation;
};

struct PlotPanel {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;
};

/// The panels side by side. Colours can be told apart by colour-blind readers.
std::string plot_svg(const std::vector<PlotPanel>& panels);

}  // namespace dasgd
