// A comparison in pictures, and its page.
#pragma once

#include <string>
#include <vector>

#include "dasgd/referee/results.hpp"
#include "dasgd/report/page.hpp"
#include "dasgd/report/svg_plot.hpp"

namespace dasgd {

/// Panels that belong together: a figure of the page and a file of its own.
struct ComparePicture {
  std::string file;  ///< without its ending
  std::string title, caption;
  std::vector<PlotPanel> panels;
};

/// Loss over time, gradients and bytes for each world; time over eta; time and busiest bytes. DASGD
/// and the five fastest are drawn; everybody is in the table.
std::vector<ComparePicture> pictures_of(const std::vector<JudgedWorld>& worlds);

/// What compare.html shows.
report::FiguresPage compare_page(const Contest& contest, const std::vector<JudgedWorld>& worlds);

}  // namespace dasgd
