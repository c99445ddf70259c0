// A sweep in pictures: mean and deviation over seeds, one line for every setting.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dasgd/record/sweep.hpp"
#include "dasgd/report/charts/svg_plot.hpp"

namespace dasgd::report {

/// One quantity in panels that have the same axes.
struct SweepFigure {
  std::string file;  ///< "loss_over_samples"
  std::string title, caption;
  std::vector<PlotPanel> panels;
};

struct SweepFigures {
  std::string title, subtitle;
  std::vector<SweepFigure> figures;
  nlohmann::ordered_json table;  ///< a row for every setting: {"mean", "deviation"} over its seeds
};

/// Reads the finished runs of a sweep. Runs that diverged are counted in the table and left out of
/// every mean.
SweepFigures sweep_figures(const Sweep& sweep, const std::string& directory);

/// Its table for a terminal, below its title.
std::string to_text(const SweepFigures& sweep);

}  // namespace dasgd::report
