#include "dasgd/experiments/svg_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace dasgd {
namespace {

constexpr std::array<const char*, 8> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#e69f00", "#56b4e9", "#000000", "#7f7f7f"};
constexpr double panel_width = 430, panel_height = 320, left = 70, top = 34, right = 14,
                 bottom = 96;

/// Maps values to pixels along one axis and says where its ticks are.
class Axis {
 public:
  Axis(double low, double high, double from, double to, bool logarithmic)
      : log_(logarithmic), from_(from), to_(to) {
    low_ = log_ ? std::log10(low) : low;
    high_ = log_ ? std::log10(high) : high;
    if (high_ - low_ < 1e-12) high_ = low_ + 1;
  }
  double at(double value) const {
    const double v = log_ ? std::log10(std::max(value, 1e-300)) : value;
    return from_ + (v - low_) / (high_ - low_) * (to_ - from_);
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (log_) {
      for (int e = static_cast<int>(std::floor(low_));
           e <= static_cast<int>(std::floor(high_ + 1e-9)); ++e)
        for (const double m : {1.0, 2.0, 5.0})
          if (const double l = e + std::log10(m); l >= low_ - 1e-9 && l <= high_ + 1e-9)
            result.push_back(std::pow(10.0, e) * m);
      return result;
    }
    const double raw = (high_ - low_) / 5, size = std::pow(10.0, std::floor(std::log10(raw)));
    const double step = size * (raw / size < 1.5   ? 1
                                : raw / size < 3.5 ? 2
                                : raw / size < 7.5 ? 5
                                                   : 10);
    const auto first = std::llround(std::ceil(low_ / step)),
               last = std::llround(std::floor(high_ / step + 1e-9));
    for (auto k = first; k <= last; ++k) result.push_back(static_cast<double>(k) * step);
    return result;
  }

 private:
  bool log_;
  double low_, high_, from_, to_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

std::string points(const PlotSeries& s, const Axis& x, const Axis& y, double sign, bool reversed) {
  std::string text;
  for (std::size_t k = 0; k < s.x.size(); ++k) {
    const std::size_t i = reversed ? s.x.size() - 1 - k : k;
    const double deviation = s.deviation.empty() ? 0 : s.deviation[i];
    text += fmt::format("{:.1f},{:.1f} ", x.at(s.x[i]), y.at(s.y[i] + sign * deviation));
  }
  return text;
}

const char* stroke(const PlotSeries& s) {
  return s.look == PlotSeries::Look::dashed ? "stroke-width=\"2\" stroke-dasharray=\"5 3\""
                                            : "stroke-width=\"2\"";
}

std::string draw(const PlotSeries& s, const Axis& x, const Axis& y, const char* colour) {
  std::string out;
  if (s.look == PlotSeries::Look::dots) {
    for (std::size_t i = 0; i < s.x.size(); ++i)
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                         x.at(s.x[i]), y.at(s.y[i]), colour);
    return out;
  }
  if (!s.deviation.empty())
    out += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" opacity=\"0.2\"/>\n",
                       points(s, x, y, 1, false), points(s, x, y, -1, true), colour);
  return out + fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" {}/>\n",
                           points(s, x, y, 0, false), colour, stroke(s));
}

std::string legend(const PlotSeries& s, std::size_t entry, double top_row, const char* colour) {
  const double x = left + static_cast<double>(entry % 2) * 180;
  const std::size_t row = entry / 2;
  const double y = top_row + static_cast<double>(row) * 15;
  if (s.look == PlotSeries::Look::dots)
    return fmt::format(
        "<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
        x + 9, y - 4, colour, x + 24, y, s.name);
  return fmt::format(
      "<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" {}/>"
      "<text x=\"{}\" y=\"{}\">{}</text>\n",
      x, x + 18, y - 4, y - 4, colour, stroke(s), x + 24, y, s.name);
}

std::string draw(const PlotPanel& panel) {
  Range xs, ys;
  if (!panel.log_y) ys.add(0);
  for (const PlotSeries& s : panel.series)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      xs.add(s.x[i]);
      ys.add(s.y[i] + (s.deviation.empty() ? 0 : s.deviation[i]));
      if (panel.log_y) ys.add(s.y[i]);
    }
  const double bottom_edge = panel_height - bottom, right_edge = panel_width - right;
  const Axis x(xs.low, xs.high, left, right_edge, panel.log_x);
  const Axis y(ys.low, panel.log_y ? ys.high : ys.high * 1.06, bottom_edge, top, panel.log_y);
  std::string out = fmt::format(
      "<text x=\"{:.0f}\" y=\"18\" font-weight=\"600\" text-anchor=\"middle\">{}</text>\n",
      (left + right_edge) / 2, panel.title);
  for (const double tick : x.ticks())
    out += fmt::format(
        "<line class=\"g\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
        x.at(tick), top, bottom_edge, bottom_edge + 16, tick);
  for (const double tick : y.ticks())
    out += fmt::format(
        "<line class=\"g\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
        left, right_edge, y.at(tick), left - 6, y.at(tick) + 4, tick);
  out += fmt::format("<text x=\"{:.0f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (left + right_edge) / 2, bottom_edge + 34, panel.x_label);
  out += fmt::format(
      "<text transform=\"translate(14 {:.0f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (top + bottom_edge) / 2, panel.y_label);
  std::size_t entries = 0;
  for (std::size_t k = 0; k < panel.series.size(); ++k) {
    const PlotSeries& s = panel.series[k];
    const char* const colour = colours[s.colour.value_or(k) % colours.size()];
    out += draw(s, x, y, colour);
    if (!s.name.empty()) out += legend(s, entries++, bottom_edge + 52, colour);
  }
  return out;
}

}  // namespace

std::string plot_svg(const std::vector<PlotPanel>& panels, std::size_t columns) {
  const std::size_t across = std::min(columns, panels.size());
  const std::size_t rows = (panels.size() + across - 1) / across;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"12\">\n"
      "<style>.g{{stroke:#ddd}}text{{fill:#222}}</style><rect width=\"100%\" height=\"100%\" "
      "fill=\"#fff\"/>\n",
      panel_width * static_cast<double>(across), panel_height * static_cast<double>(rows));
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const std::size_t row = k / across;
    out += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n",
                       panel_width * static_cast<double>(k % across),
                       panel_height * static_cast<double>(row), draw(panels[k]));
  }
  return out + "</svg>\n";
}

}  // namespace dasgd
