#include "dasgd/report/charts/svg_plot.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/report/charts/svg_frame.hpp"

namespace dasgd {
namespace {

using svg::Axis;
using svg::Box;
using svg::Range;

constexpr double panel_top = 34;

// The rectangle inside the axes of a panel of this width.
Box box_of(double panel_width) {
  return {70, panel_top, panel_width - 14,
          panel_top + 190 * std::clamp(panel_width / 430, 0.8, 1.0)};
}

constexpr double marker_size = 3.4;

// Shapes that can be distinguished in one colour.
std::string marker(double x, double y, std::size_t shape, const char* colour) {
  const double r = marker_size;
  switch (shape % 6) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x, y, r,
                         colour);
    case 1:
      return fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x - r,
          y - r, 2 * r, 2 * r, colour);
    case 2:
      return fmt::format(
          "<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" "
          "fill=\"{}\"/>\n",
          x, y - 1.3 * r, x - 1.2 * r, y + r, x + 1.2 * r, y + r, colour);
    case 3:
      return fmt::format(
          "<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} "
          "{:.1f},{:.1f}\" fill=\"{}\"/>\n",
          x, y - 1.4 * r, x + 1.4 * r, y, x, y + 1.4 * r, x - 1.4 * r, y, colour);
    case 4:
      return fmt::format(
          "<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" "
          "fill=\"{}\"/>\n",
          x, y + 1.3 * r, x - 1.2 * r, y - r, x + 1.2 * r, y - r, colour);
    default:
      return fmt::format(
          "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" "
          "stroke-width=\"2\"/>\n",
          x - r, y - r, x + r, y + r, x - r, y + r, x + r, y - r, colour);
  }
}

double low_of(const PlotSeries& s, std::size_t i) {
  if (!s.low.empty()) return s.low[i];
  return s.deviation.empty() ? s.y[i] : s.y[i] - s.deviation[i];
}
double high_of(const PlotSeries& s, std::size_t i) {
  if (!s.high.empty()) return s.high[i];
  return s.deviation.empty() ? s.y[i] : s.y[i] + s.deviation[i];
}
bool has_band(const PlotSeries& s) { return !s.deviation.empty() || !s.low.empty(); }

// Where y is finite: the pieces of a line with gaps.
std::vector<std::pair<std::size_t, std::size_t>> pieces(const PlotSeries& s) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!std::isfinite(s.y[i])) continue;
    if (result.empty() || result.back().second != i) result.emplace_back(i, i);
    result.back().second = i + 1;
  }
  return result;
}

// Black ones are white on dark pages.
std::string stroke(const PlotSeries& s) {
  const bool is_black = s.colour == svg::colours.size() - 1;
  return std::string(is_black ? "class=\"i\" " : "") + "stroke-width=\"2\"" +
         (s.look == PlotSeries::Look::dashed ? " stroke-dasharray=\"5 3\"" : "");
}

std::string dots(const PlotSeries& s, const Axis& x, const Axis& y, const char* colour) {
  std::string out;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    out += marker(x.at(s.x[i]), y.at(s.y[i]), s.marker.value_or(0), colour);
  return out;
}

// A few along the line, not at the same places as those of other lines.
std::string markers(const PlotSeries& s, const Axis& x, const Axis& y, const char* colour) {
  constexpr double apart = 60, between_lines = 11;
  std::string out;
  double next =
      x.at(s.x.empty() ? 0 : s.x.front()) + between_lines * static_cast<double>(*s.marker % 6);
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!std::isfinite(s.y[i]) || (x.at(s.x[i]) < next && i + 1 < s.x.size())) continue;
    out += marker(x.at(s.x[i]), y.at(s.y[i]), *s.marker, colour);
    next = x.at(s.x[i]) + apart;
  }
  return out;
}

std::string lines(const PlotSeries& s, const Axis& x, const Axis& y, const char* colour,
                  double bottom) {
  if (s.look == PlotSeries::Look::dots) return dots(s, x, y, colour);
  std::string out;
  for (const auto& [first, last] : pieces(s)) {
    if (last == first + 1 && !s.marker) {  // no line
      out += marker(x.at(s.x[first]), y.at(s.y[first]), 0, colour);
      continue;
    }
    std::string line, band;
    for (std::size_t i = first; i < last; ++i) {
      line += fmt::format("{:.1f},{:.1f} ", x.at(s.x[i]), y.at(s.y[i]));
      band += fmt::format("{:.1f},{:.1f} ", x.at(s.x[i]), y.at(high_of(s, i)));
    }
    for (std::size_t i = last; i > first;
         --i)  // a logarithmic axis has no place for what is below 0
      band +=
          fmt::format("{:.1f},{:.1f} ", x.at(s.x[i - 1]), std::min(y.at(low_of(s, i - 1)), bottom));
    if (has_band(s))
      out += fmt::format("<polygon points=\"{}\" fill=\"{}\" opacity=\"0.2\"/>\n", band, colour);
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" {}/>\n", line, colour,
                       stroke(s));
  }
  return s.marker ? out + markers(s, x, y, colour) : out;
}

std::string bars(const PlotSeries& s, const Axis& x, const Axis& y, const char* colour,
                 bool among_others, double bottom) {
  std::string out;
  const double width = s.x.size() > 1 ? s.x[1] - s.x[0] : 1;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!(s.y[i] > 0)) continue;
    const double left = x.at(s.x[i]), top = y.at(s.y[i]);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{}/>\n",
        left, top, std::max(0.5, x.at(s.x[i] + width) - left - 1), std::max(0.0, bottom - top),
        colour, among_others ? " opacity=\"0.6\"" : "");
  }
  return out;
}

/// Where the names of a panel's series stand: as many as there is room for, in two columns unless
/// they are long.
struct Legend {
  static constexpr std::size_t most = 8;
  static constexpr double row_height = 15;
  std::size_t entries = 0, columns = 2;

  double column_width = 180;

  Legend(const PlotPanel& panel, double panel_width) {
    const std::size_t long_name = panel_width < 400 ? 18 : 25;
    column_width = std::min(180.0, (panel_width - 70) / 2);
    for (const PlotSeries& s : panel.series) {
      if (!s.name.empty()) ++entries;
      if (s.name.size() > long_name) columns = 1;
    }
    entries = std::min(entries, most);
  }
  double height() const {
    const std::size_t rows = (entries + columns - 1) / columns;
    return row_height * static_cast<double>(rows);
  }
};

std::string legend(const PlotSeries& s, const Legend& in, std::size_t entry, const char* colour,
                   const Box& box) {
  const std::size_t row = entry / in.columns, column = entry % in.columns;
  const double x = box.left + static_cast<double>(column) * in.column_width;
  const double y = box.bottom + 52 + static_cast<double>(row) * Legend::row_height;
  const std::string mark =
      s.look == PlotSeries::Look::dots
          ? marker(x + 9, y - 4, s.marker.value_or(0), colour)
          : (s.marker ? marker(x + 9, y - 4, *s.marker, colour) : "") +
                fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" {}/>", x,
                            x + 18, y - 4, y - 4, colour, stroke(s));
  return mark + fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + 24, y, svg::escape(s.name));
}

std::string draw(const PlotPanel& panel, double panel_width) {
  const Box box = box_of(panel_width);
  Range xs, ys;
  if (!panel.log_y && panel.from_zero) ys.add(0);
  for (const PlotSeries& s : panel.series)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      xs.add(s.x[i]);
      if (panel.bars && s.x.size() > 1) xs.add(s.x[i] + s.x[1] - s.x[0]);
      if (panel.log_y && !(s.y[i] > 0)) continue;
      ys.add(high_of(s, i));
      if (panel.log_y) ys.add(panel.bars ? std::min(s.y[i], 0.5) : s.y[i]);
      if (!panel.log_y && !panel.from_zero) ys.add(low_of(s, i));
    }
  for (const double value : panel.x_reach) xs.add(value);
  for (const double value : panel.y_reach)
    if (!panel.log_y || value > 0) ys.add(value);
  if (!panel.log_y) ys.high += 0.06 * (panel.from_zero ? ys.high : ys.high - ys.low);
  const Axis x(xs, box.left, box.right, panel.log_x);
  const Axis y(ys, box.bottom, box.top, panel.log_y);
  std::string out = svg::frame(box, panel.title, panel.x_label, panel.y_label, x, &y);
  const Legend names(panel, panel_width);
  std::size_t named = 0;
  for (std::size_t k = 0; k < panel.series.size(); ++k) {
    const PlotSeries& s = panel.series[k];
    const char* const colour = svg::colours[s.colour.value_or(k) % svg::colours.size()];
    out += panel.bars ? bars(s, x, y, colour, panel.series.size() > 1, box.bottom)
                      : lines(s, x, y, colour, box.bottom);
    if (!s.name.empty() && named < names.entries) out += legend(s, names, named++, colour, box);
  }
  return out;
}

}  // namespace

std::string plot_svg(const std::vector<PlotPanel>& panels, std::size_t columns,
                     double panel_width) {
  const std::size_t across = std::min(columns, panels.size());
  const std::size_t rows = (panels.size() + across - 1) / across;
  double panel_height = 0;
  for (const PlotPanel& panel : panels)
    panel_height = std::max(panel_height,
                            box_of(panel_width).bottom + 46 + Legend(panel, panel_width).height());
  std::string content, title;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const std::size_t row = k / across;
    content += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n",
                           panel_width * static_cast<double>(k % across),
                           panel_height * static_cast<double>(row), draw(panels[k], panel_width));
    title += (title.empty() ? "" : "; ") + panels[k].title;
  }
  return svg::document(panel_width * static_cast<double>(across),
                       panel_height * static_cast<double>(rows), title, content);
}

std::string heat_map_svg(const HeatMap& map) {
  constexpr Box box{70, 34, 390, 354};
  const auto size = static_cast<double>(map.size);
  Range cells{0, std::max(1.0, size * static_cast<double>(map.per_cell))}, values{0, 0};
  const Axis x(cells, box.left, box.right), y(cells, box.top, box.bottom);
  for (std::size_t r = 0; r < map.size; ++r)
    for (std::size_t c = 0; c < map.size; ++c) values.add(map.value(r, c).value_or(0));
  std::string out = svg::frame(box, map.title, map.x_label, map.y_label, x, &y);
  const double side = (box.right - box.left) / std::max(1.0, size);
  for (std::size_t r = 0; r < map.size; ++r)
    for (std::size_t c = 0; c < map.size; ++c) {
      const auto value = map.value(r, c);
      if (!value) continue;
      out += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"#0072b2\" "
          "fill-opacity=\"{:.3f}\"><title>{:g}</title></rect>\n",
          box.left + side * static_cast<double>(c), box.top + side * static_cast<double>(r), side,
          side, 0.04 + 0.96 * (values.high > 0 ? *value / values.high : 0), *value);
    }
  out += fmt::format("<text x=\"{}\" y=\"406\" text-anchor=\"end\">darkest: {:g}</text>\n",
                     box.right, values.high);
  return svg::document(404, 414, map.title, out);
}

std::string time_line_svg(const std::string& title, const report::TraceDigest& trace) {
  const auto& rows = trace.time_lines();
  const double row_height = std::clamp(480.0 / static_cast<double>(rows.size()), 6.0, 22.0);
  const Box box{70, 34, 986, 34 + row_height * static_cast<double>(rows.size())};
  Range seconds{0, static_cast<double>(trace.end()) * 1e-9};
  const Axis x(seconds, box.left, box.right);
  const auto at = [&](Nanoseconds time) { return x.at(static_cast<double>(time) * 1e-9); };
  std::string out = svg::frame(box, title, "seconds", "worker", x, nullptr);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double top = box.top + row_height * static_cast<double>(k);
    if (rows.size() <= 24 || k % 8 == 0)
      out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                         box.left - 6, top + row_height / 2 + 4, rows[k].worker);
    // What would fall on the same pixel is drawn once; a path for a whole row keeps the file small.
    std::string bars, ticks;
    double drawn = -1;
    for (const report::Bar& bar : rows[k].bars) {
      const double from = std::max(at(bar.start), drawn), to = at(bar.end);
      if (to - drawn < 0.25 && drawn >= 0) continue;
      bars += fmt::format("M{:.2f} {:.1f}H{:.2f}", from, top + row_height * 0.42,
                          std::max(to, from + 0.25));
      drawn = to;
    }
    drawn = -1;
    for (const report::Tick& tick : rows[k].ticks) {
      const double here = at(tick.time);
      if (here - drawn < 0.5) continue;
      ticks +=
          fmt::format("M{:.2f} {:.1f}v{:.1f}", here, top + row_height * 0.76, row_height * 0.2);
      drawn = here;
    }
    out += fmt::format(
        "<path d=\"{}\" stroke=\"#0072b2\" stroke-width=\"{:.1f}\"/>"
        "<path d=\"{}\" stroke=\"#d55e00\" stroke-width=\"0.5\"/>\n",
        bars, row_height * 0.6, ticks);
  }
  out += fmt::format(
      "<text x=\"{0}\" y=\"{1}\"><tspan fill=\"#0072b2\">&#9632;</tspan> computing  "
      "<tspan fill=\"#d55e00\">&#9632;</tspan> applying foreign gradients  &#9633; idle</text>\n",
      box.left, box.bottom + 54);
  return svg::document(1000, box.bottom + 66, title, out);
}

}  // namespace dasgd
