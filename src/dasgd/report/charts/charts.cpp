#include "dasgd/report/charts/charts.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "dasgd/report/charts/svg_plot.hpp"

namespace dasgd::report {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool is_worth_drawing(const PlotSeries& s) {
  return std::any_of(s.y.begin(), s.y.end(), [](double y) { return std::isfinite(y); });
}

// One value of metrics.jsonl against something that grows.
PlotSeries series(const Run& run, std::size_t value, double MetricsRow::*x) {
  PlotSeries s{run.label, {}, {}, {}};
  for (const MetricsRow& row : run.metrics.rows()) {
    const auto& spread = row.values[value];
    s.x.push_back(row.*x);
    s.y.push_back(spread ? spread->mean : none);
    if (!run.metrics.merged()) continue;
    s.low.push_back(spread ? spread->least : none);
    s.high.push_back(spread ? spread->most : none);
  }
  return s;
}

bool spans_decades(const PlotPanel& panel) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const PlotSeries& s : panel.series)
    for (const double y : s.y)
      if (y > 0) {
        least = std::min(least, y);
        most = std::max(most, y);
      }
  return most > 100 * least;
}

// The same value over time, samples and iterations.
std::vector<PlotPanel> over_everything(std::span<const Run> runs, std::size_t value,
                                       const char* name) {
  struct Against {
    const char* label;
    double MetricsRow::*x;
  };
  std::vector<PlotPanel> panels;
  for (const Against& against :
       {Against{"seconds", &MetricsRow::seconds}, Against{"samples", &MetricsRow::samples},
        Against{"iterations of all workers", &MetricsRow::applications}}) {
    PlotPanel panel{fmt::format("{} over {}", name, against.label), against.label, name, {}};
    for (const Run& run : runs) {
      PlotSeries s = series(run, value, against.x);
      if (is_worth_drawing(s)) panel.series.push_back(std::move(s));
    }
    panel.log_y = spans_decades(panel);
    if (!panel.series.empty()) panels.push_back(std::move(panel));
  }
  return panels;
}

PlotPanel staleness(std::span<const Run> runs) {
  PlotPanel panel{"staleness over time: mean, least and most", "seconds", "|S|", {}};
  for (const Run& run : runs) {
    if (!run.trace) {
      PlotSeries s = series(run, 3, &MetricsRow::seconds);
      if (is_worth_drawing(s)) panel.series.push_back(std::move(s));
      continue;
    }
    PlotSeries s{run.label, {}, {}, {}};
    const double width = static_cast<double>(run.trace->bucket_width()) * 1e-9;
    double middle = -0.5 * width;
    for (const Moment& m : run.trace->moments()) {
      middle += width;
      if (m.S.count == 0) continue;
      s.x.push_back(middle);
      s.y.push_back(m.S.mean());
      s.low.push_back(static_cast<double>(m.S.least));
      s.high.push_back(static_cast<double>(m.S.most));
    }
    panel.series.push_back(std::move(s));
  }
  return panel;
}

PlotPanel histogram(std::span<const Run> runs) {
  PlotPanel panel{"histogram of staleness", "|S|", "applications", {}, false, true, true};
  std::uint64_t most = 0;
  for (const Run& run : runs)
    if (run.trace) most = std::max(most, run.trace->histogram().rbegin()->first);
  const std::uint64_t width = most / 48 + 1;
  for (const Run& run : runs) {
    if (!run.trace) continue;
    PlotSeries s{run.label, {}, {}, {}};
    for (std::uint64_t bin = 0; bin <= most / width; ++bin) {
      s.x.push_back(static_cast<double>(bin * width));
      s.y.push_back(0);
    }
    for (const auto& [S, count] : run.trace->histogram())
      s.y[S / width] += static_cast<double>(count);
    panel.series.push_back(std::move(s));
  }
  return panel;
}

PlotPanel inbox(std::span<const Run> runs) {
  PlotPanel panel{"inbox depth: the fullest", "seconds", "waiting gradients", {}};
  for (const Run& run : runs) {
    PlotSeries s = series(run, 6, &MetricsRow::seconds);
    if (is_worth_drawing(s)) panel.series.push_back(std::move(s));
  }
  return panel;
}

PlotPanel rates(const Run& run) {
  PlotPanel panel{"gradients per second by worker", "seconds", "gradients / s", {}};
  const auto& rows = run.metrics.rows();
  const std::size_t workers = rows.empty() ? 0 : rows.back().gradients_by_worker.size();
  constexpr std::size_t most_lines = 64;  // more of them are a block of colour
  for (std::size_t w = 0; w < std::min(workers, most_lines); ++w) {
    PlotSeries s{fmt::format("worker {}", w), {}, {}, {}};
    double made = 0, seconds = 0;
    for (const MetricsRow& row : rows) {
      if (w >= row.gradients_by_worker.size() || row.seconds <= seconds) continue;
      s.x.push_back(row.seconds);
      s.y.push_back((row.gradients_by_worker[w] - made) / (row.seconds - seconds));
      made = row.gradients_by_worker[w];
      seconds = row.seconds;
    }
    panel.series.push_back(std::move(s));
  }
  return panel;
}

HeatMap heat(const Run& run) {
  const TraceDigest& trace = *run.trace;
  return {"mean staleness: who applies whose gradients",
          "computed by worker",
          "applied by worker",
          trace.groups(),
          trace.workers_per_group(),
          [&trace](std::size_t r, std::size_t c) -> std::optional<double> {
            const Extent& cell = trace.heat(r, c);
            return cell.count > 0 ? std::optional(cell.mean()) : std::nullopt;
          }};
}

// eta and every limit that the summary has, on one logarithmic axis.
PlotPanel step_size(std::span<const Run> runs) {
  PlotPanel panel{"eta and its limits", "", "step size", {}, false, true};
  const auto level = [&](const std::string& name, double eta) {
    panel.series.push_back({name, {0, 1}, {eta, eta}, {}});
  };
  for (const Run& run : runs) {
    const auto lr = run.config.find("lr");
    if (run.limits.empty() || lr == run.config.end() || !lr->is_number()) continue;
    const std::string whose = runs.size() > 1 ? run.label + ": " : "";
    level(whose + "eta", lr->get<double>());
    for (const EtaLimit& limit : run.limits)
      if (limit.eta > 0) level(whose + limit.name, limit.eta);
  }
  return panel;
}

}  // namespace

std::vector<Chart> charts(std::span<const Run> runs) {
  std::vector<Chart> result;
  const auto add = [&](const std::string& name, const std::vector<PlotPanel>& panels) {
    if (!panels.empty() && !panels.front().series.empty())
      result.push_back({name + ".svg", plot_svg(panels)});
  };
  add("loss", over_everything(runs, 0, "loss"));
  add("accuracy", over_everything(runs, 1, "accuracy"));
  add("staleness", {staleness(runs)});
  add("histogram", {histogram(runs)});
  add("inbox", {inbox(runs)});
  add("step_size", {step_size(runs)});
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::string suffix = runs.size() > 1 ? fmt::format("_{}", k + 1) : "";
    add("rates" + suffix, {rates(runs[k])});
    if (!runs[k].trace) continue;
    result.push_back({"heat_map" + suffix + ".svg", heat_map_svg(heat(runs[k]))});
    result.push_back(
        {"time_line" + suffix + ".svg", time_line_svg("time line of each worker", *runs[k].trace)});
  }
  return result;
}

}  // namespace dasgd::report
