// Line charts with shaded deviations, as SVG.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dasgd {

/// One line of a chart, or its dots; `deviation` may be empty. Without a name it is not in the
/// legend.
struct PlotSeries {
  enum class Look { line, dashed, dots };
  std::string name;
  std::vector<double> x, y, deviation;
  Look look = Look::line;
  std::optional<std::size_t> colour;  ///< which of the palette; by default its place in the panel
};

struct PlotPanel {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;
};

/// The panels in rows of `columns`, by default side by side. Colours can be told apart by
/// colour-blind readers.
std::string plot_svg(const std::vector<PlotPanel>& panels, std::size_t columns = 100);

}  // namespace dasgd
