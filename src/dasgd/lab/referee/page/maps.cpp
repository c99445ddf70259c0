#include "dasgd/lab/referee/page/maps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "dasgd/base/input_error.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/report/charts/svg_frame.hpp"

namespace dasgd {
namespace {

constexpr double cell_height = 24, header_height = 64;
constexpr const char* faster_colour = "#56b4e9";
constexpr const char* slower_colour = "#e69f00";
constexpr const char* undecided_colour = "#d9d9d9";

/// A table of coloured cells, as wide as its longest texts need, or as it is asked to be.
struct CellTable {
  double names = 0, cell_width = 0;  ///< of the names of rows, of a cell

  explicit CellTable(double width) {
    if (width == 0) names = 150, cell_width = 96;
  }
  void fill(double width, std::size_t columns) {
    const auto n = static_cast<double>(columns);
    if (columns > 0) cell_width = std::max(cell_width, (width - names - 8) / n);
  }

  void fit_name(const std::string& text) { names = std::max(names, svg::width_of(text) + 16); }
  void fit_cell(const std::string& text) {
    cell_width = std::max(cell_width, svg::width_of(text) + 12);
  }
  std::string cell(double column, double row, const char* colour, const std::string& text,
                   const char* style = "") const {
    const double x = names + column * cell_width, y = header_height + row * cell_height;
    return fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"{}\" "
        "stroke=\"white\"/><text class=\"c\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\" "
        "fill=\"black\" {}>{}</text>\n",
        x, y, cell_width, cell_height, colour, x + cell_width / 2, y + 16, style,
        svg::escape(text));
  }
  std::string row_name(double row, const std::string& text) const {
    return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", names - 8,
                       header_height + row * cell_height + 16, svg::escape(text));
  }
  std::string column_name(double column, const std::string& text) const {
    return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                       names + (column + 0.5) * cell_width, header_height - 8, svg::escape(text));
  }
  std::string picture(std::size_t columns, std::size_t rows, const std::string& name,
                      const std::string& content) const {
    return svg::document(
        std::max(names + cell_width * static_cast<double>(columns) + 8, svg::width_of(name) + 16),
        header_height + cell_height * static_cast<double>(rows) + 8, name, content);
  }
};

std::string title(const std::string& text) {
  return fmt::format("<text x=\"8\" y=\"20\" font-weight=\"600\">{}</text>\n", svg::escape(text));
}
const char* colour_of(const Judgement& j) {
  return j.verdict == "faster"   ? faster_colour
         : j.verdict == "slower" ? slower_colour
                                 : undecided_colour;
}
std::string text_of(const Judgement& j) {
  if (!std::isfinite(j.median)) return "not reached";
  if (j.verdict == "not tuned") return "not tuned";
  return j.ratio ? fmt::format("{:.2f}", *j.ratio) : fmt::format("{:.3g} s", j.median);
}

/// X and Y of straggler:X+latency:Y.
std::optional<std::pair<double, double>> place_of(const std::string& world) {
  const auto parts = split(world, '+');
  if (parts.size() != 2 || !parts[0].starts_with("straggler:") || !parts[1].starts_with("latency:"))
    return std::nullopt;
  return std::pair{parse_real(split(parts[0], ':')[1]), parse_real(split(parts[1], ':')[1])};
}

}  // namespace

std::string ratio_map(const std::vector<JudgedWorld>& worlds, double width) {
  const std::string name = "Time to the goal against DASGD's";
  const auto shown = [](const JudgedWorld& world, std::size_t k) {
    return world.rows[k].rival + (world.judgements[k].reference ? " (reference)" : "");
  };
  CellTable table(width);
  for (const JudgedWorld& world : worlds) {
    table.fit_cell(world.name);
    for (std::size_t k = 0; k < world.rows.size(); ++k) table.fit_name(shown(world, k));
    for (const Judgement& j : world.judgements) table.fit_cell(text_of(j));
  }
  table.fill(width, worlds.size());
  std::string out = title(name);
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    const JudgedWorld& world = worlds[w];
    out += table.column_name(static_cast<double>(w), world.name);
    double fastest = INFINITY;
    for (const Judgement& j : world.judgements) fastest = std::min(fastest, j.median);
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      const auto row = static_cast<double>(k);
      if (w == 0) out += table.row_name(row, shown(world, k));
      const double median = world.judgements[k].median;
      const bool wins = std::isfinite(median) && median == fastest;
      out += table.cell(static_cast<double>(w), row, colour_of(world.judgements[k]),
                        text_of(world.judgements[k]), wins ? "font-weight=\"700\"" : "");
    }
  }
  return table.picture(worlds.size(), worlds.empty() ? 0 : worlds.front().rows.size(), name, out);
}

std::optional<std::string> winner_map(const std::vector<JudgedWorld>& worlds, double width) {
  std::map<std::pair<double, double>, const JudgedWorld*> at;
  std::set<double> stragglers, latencies;
  CellTable table(width);
  table.fit_cell("nobody");
  for (const JudgedWorld& world : worlds) {
    const auto place = place_of(world.name);
    if (!place) continue;
    at[*place] = &world;
    table.fit_cell(world.verdict.winner);
    stragglers.insert(place->first);
    latencies.insert(place->second);
    table.fit_cell(fmt::format("{} times", show_real(place->first)));
    table.fit_name(fmt::format("{} gradients", show_real(place->second)));
  }
  if (stragglers.size() < 2 || latencies.size() < 2) return std::nullopt;
  table.fill(width, stragglers.size());
  const std::string name = "Who wins over straggler and latency";
  std::string out = title(name);
  std::vector<std::string> winners;
  double column = 0;
  for (const double X : stragglers) {
    out += table.column_name(column, fmt::format("{} times", show_real(X)));
    double row = 0;
    for (const double Y : latencies) {
      if (column == 0) out += table.row_name(row, fmt::format("{} gradients", show_real(Y)));
      if (const auto found = at.find({X, Y}); found != at.end()) {
        const WorldVerdict& verdict = found->second->verdict;
        const std::string winner = verdict.winner.empty() ? "nobody" : verdict.winner;
        auto known = std::find(winners.begin(), winners.end(), winner);
        if (known == winners.end()) known = winners.insert(winners.end(), winner);
        constexpr std::array palette{"#56b4e9", "#e69f00", "#8fd3b6", "#cc79a7", "#f0e442"};
        const auto colour = static_cast<std::size_t>(known - winners.begin()) % palette.size();
        out += table.cell(column, row, verdict.shown ? palette[colour] : undecided_colour, winner);
      }
      ++row;
    }
    ++column;
  }
  return table.picture(stragglers.size(), latencies.size(), name, out);
}

}  // namespace dasgd
