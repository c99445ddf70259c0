#include "dasgd/lab/referee/page/curves.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/lab/referee/row_medians.hpp"

namespace dasgd {
namespace {

// What is drawn: a value of a point, over another.
struct Drawn {
  const char* x_label;
  double (*x)(const CurvePoint&);
};
constexpr Drawn axes[] = {
    {"seconds", [](const CurvePoint& p) { return p.time_s; }},
    {"gradients", [](const CurvePoint& p) { return static_cast<double>(p.gradients); }},
    {"megabytes sent", [](const CurvePoint& p) { return static_cast<double>(p.bytes) * 1e-6; }}};

double loss_at(const CurvePoint& p) { return p.loss_mean; }
// Without the model of the start, which is far below all others and would squeeze them.
double accuracy_at(const CurvePoint& p) {
  return p.gradients > 0 ? p.accuracy_mean.value_or(std::nan("")) : std::nan("");
}

template <typename Value>
PlotSeries series_of(const ContestRow& row, const Drawn& axis, Value&& value) {
  PlotSeries series{.name = row.rival};
  std::size_t looks = 0;
  for (const ContestRun& run : row.runs) looks = std::max(looks, run.curve.size());
  for (std::size_t look = 0; look < looks; ++look) {
    std::vector<double> xs, ys;
    for (const ContestRun& run : row.runs) {
      if (look >= run.curve.size() || !std::isfinite(value(run.curve[look]))) continue;
      xs.push_back(axis.x(run.curve[look]));
      ys.push_back(value(run.curve[look]));
    }
    if (ys.empty() && series.x.empty()) continue;
    if (ys.empty() || 2 * ys.size() < row.runs.size()) break;
    series.x.push_back(median_of(xs));
    series.y.push_back(median_of(ys));
    series.low.push_back(*std::min_element(ys.begin(), ys.end()));
    series.high.push_back(*std::max_element(ys.begin(), ys.end()));
  }
  return series;
}

// The beginnings of curves below nine tenths of all values, which would squeeze the rest.
void leave_out_beginnings(std::vector<PlotSeries>& all) {
  std::vector<double> values;
  for (const PlotSeries& s : all) values.insert(values.end(), s.y.begin(), s.y.end());
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const double least = values[values.size() / 10];
  for (PlotSeries& s : all) {
    const auto begin = std::find_if(s.y.begin(), s.y.end(), [&](double y) { return y >= least; });
    const auto count = std::min(begin - s.y.begin(), std::ssize(s.y) - 1);  // the last one stays
    for (std::vector<double>* column : {&s.x, &s.y, &s.low, &s.high})
      column->erase(column->begin(), column->begin() + count);
    for (double& low : s.low) low = std::max(low, std::min(least, s.y.back()));
  }
}

template <typename Value>
PlotPanel panel_of(const JudgedWorld& world, const Drawn& axis, const std::string& y_label,
                   bool log_y, std::optional<double> goal, Value&& value) {
  PlotPanel panel{.title = world.name,
                  .x_label = axis.x_label,
                  .y_label = y_label,
                  .log_y = log_y,
                  .from_zero = false};
  for (const std::size_t k : drawn(world)) {
    PlotSeries series = series_of(world.rows[k], axis, value);
    if (series.x.empty()) continue;
    dress(series, k);
    panel.series.push_back(std::move(series));
  }
  if (!log_y) leave_out_beginnings(panel.series);
  if (!goal || panel.series.empty()) return panel;
  double end = 0;
  for (const PlotSeries& series : panel.series) end = std::max(end, series.x.back());
  panel.series.push_back({.name = "goal",
                          .x = {0, end},
                          .y = {*goal, *goal},
                          .look = PlotSeries::Look::dashed,
                          .colour = 7});
  return panel;
}

template <typename Value>
std::vector<PlotPanel> panels_of(const JudgedWorld& world, const std::string& y_label, bool log_y,
                                 std::optional<double> goal, Value&& value) {
  std::vector<PlotPanel> panels;
  for (const Drawn& axis : axes)
    if (PlotPanel panel = panel_of(world, axis, y_label, log_y, goal, value); !panel.series.empty())
      panels.push_back(std::move(panel));
  return panels;
}

}  // namespace

void dress(PlotSeries& series, std::size_t rival) {
  constexpr std::size_t colours = 6;  // grey and black are not for methods
  series.colour = rival % colours;
  series.marker = rival % colours + rival / colours;  // the next round of colours has other shapes
}

std::vector<ComparePicture> curves_of(const Contest& contest, const JudgedWorld& world,
                                      std::size_t number) {
  const auto goal_if = [&](Goal::Kind kind) {
    return contest.goal.kind == kind ? std::optional(contest.goal.value) : std::nullopt;
  };
  const std::string how =
      contest.seeds > 1 ? fmt::format("Median over {} seeds, with a band from minimum to maximum. ",
                                      contest.seeds)
                        : "One seed. ";
  std::vector<ComparePicture> pictures;
  const auto add = [&](const char* file, const std::string& title, std::vector<PlotPanel> panels,
                       const std::string& more = "") {
    if (panels.empty()) return;
    pictures.push_back({fmt::format("{}_{}", file, number + 1), title + " in " + world.name,
                        how + "The same runs over three axes." + more, std::move(panels)});
  };
  add("loss", "Loss",
      panels_of(world, "loss of the mean model", true, goal_if(Goal::Kind::loss), loss_at));
  add("accuracy", "Accuracy",
      panels_of(world, "accuracy of the mean model", false, goal_if(Goal::Kind::accuracy),
                accuracy_at),
      " The lowest tenth is left out where curves begin.");
  return pictures;
}

}  // namespace dasgd
