// A comparison in pictures, and its page.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/lab/referee/results.hpp"
#include "dasgd/report/charts/svg_plot.hpp"
#include "dasgd/report/page/page.hpp"

namespace dasgd {

/// Makes an SVG of that width, in units in which letters are 12 high; wider where its texts need
/// more. 0: as wide as it is usually.
using Drawing = std::function<std::string(double width)>;

/// Panels that belong together: a figure of the page and a file of its own.
struct ComparePicture {
  std::string file;  ///< without its ending
  std::string title, caption;
  std::vector<PlotPanel> panels = {};
  std::vector<Drawing> drawings = {};  ///< where there are no panels
};
/// The files of a picture, each with its name: all panels in one, drawings one by one.
std::vector<std::pair<std::string, std::string>> files_of(const ComparePicture& picture);

/// Who wins where; loss and accuracy over time, gradients and bytes for each world; time over eta;
/// time and busiest bytes. DASGD and the five fastest are drawn; everybody is in the table.
std::vector<ComparePicture> pictures_of(const Contest& contest,
                                        const std::vector<JudgedWorld>& worlds);

/// Places in the rows of a world: DASGD and the fastest, as many as a legend has room for; DASGD
/// first, then in the order of the rows, so that all worlds have the same.
std::vector<std::size_t> drawn(const JudgedWorld& world);

/// What compare.html shows.
report::FiguresPage compare_page(const Contest& contest, const std::vector<JudgedWorld>& worlds,
                                 const std::vector<ComparePicture>& pictures,
                                 const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace dasgd
