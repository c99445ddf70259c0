#include "dasgd/report/charts/sweep_figures.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/report/run.hpp"
#include "dasgd/report/tables/sweep_runs.hpp"

namespace dasgd::report {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t colours_in_a_panel = 8;

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value) ? std::optional(value)
                                                               : std::nullopt;
}

/// Which key has a line for each value, or runs along an axis; the others have a panel for every
/// combination of theirs.
struct FigureLayout {
  std::optional<std::size_t> line_key;
  bool numeric = false;
};

FigureLayout lay_out(const Sweep& sweep, const std::vector<SweepSetting>& settings) {
  FigureLayout layout;
  std::size_t most = 0;
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    std::set<std::string> values;
    bool numeric = true;
    for (const SweepSetting& setting : settings) {
      values.insert(setting.values[k]);
      numeric = numeric && number_in(setting.values[k]);
    }
    const std::size_t worth = 2 * values.size() + (numeric ? 1 : 0);
    if (values.size() < 2 || worth <= most) continue;
    most = worth;
    layout = {k, numeric};
  }
  return layout;
}

std::string short_key(const std::string& key) {
  return key.ends_with(".kind") ? key.substr(0, key.size() - 5) : key.substr(key.rfind('.') + 1);
}

std::string short_value(const std::string& text) {
  const auto number = number_in(text);
  return number ? fmt::format("{:.3g}", *number) : text.substr(text.rfind('/') + 1);
}

// "workers 10", without the key of the lines.
std::string name_without(const Sweep& sweep, const SweepSetting& setting,
                         std::optional<std::size_t> line_key) {
  std::string name;
  for (std::size_t k = 0; k < sweep.keys.size(); ++k)
    if (k != line_key)
      name += fmt::format("{}{} {}", name.empty() ? "" : ", ", short_key(sweep.keys[k]),
                          short_value(setting.values[k]));
  return name;
}

PlotSeries series_named(std::string name, std::size_t place) {
  PlotSeries series{std::move(name), {}, {}, {}};
  series.colour = place % colours_in_a_panel;
  if (place >= colours_in_a_panel) series.look = PlotSeries::Look::dashed;
  return series;
}

PlotSeries mean_curve(const std::vector<Curve>& curves, std::string name, std::size_t place) {
  constexpr int points = 120;
  PlotSeries series = series_named(std::move(name), place);
  double first = 0, last = std::numeric_limits<double>::infinity();
  for (const Curve& curve : curves) {
    first = std::max(first, curve.x.front());
    last = std::min(last, curve.x.back());
  }
  for (int k = 0; k <= points && last >= first; ++k) {
    const double x = first + (last - first) * k / points;
    std::vector<double> values;
    for (const Curve& curve : curves)
      if (const auto y = curve.at(x)) values.push_back(*y);
    const MeanOf mean = mean_of(values);
    series.x.push_back(x);
    series.y.push_back(mean.count == curves.size() ? mean.mean : nothing);
    if (curves.size() > 1) series.deviation.push_back(mean.deviation);
  }
  if (last == first) series.look = PlotSeries::Look::dots;
  return series;
}

/// Puts series into the panel of that title, in the order in which titles come.
class Panels {
 public:
  Panels(std::string x_label, std::string y_label)
      : x_label_(std::move(x_label)), y_label_(std::move(y_label)) {}

  PlotPanel& of(const std::string& title) {
    for (PlotPanel& panel : all_)
      if (panel.title == title) return panel;
    all_.push_back({title, x_label_, y_label_, {}});
    return all_.back();
  }

  /// All with the same axes, so that they can be compared.
  std::vector<PlotPanel> finish(bool log_x) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    std::vector<double> xs, ys;
    for (const PlotPanel& panel : all_)
      for (const PlotSeries& series : panel.series)
        for (std::size_t i = 0; i < series.x.size(); ++i) {
          if (!std::isfinite(series.y[i])) continue;
          xs.push_back(series.x[i]);
          ys.push_back(series.y[i]);
          ys.push_back(series.y[i] + (series.deviation.empty() ? 0 : series.deviation[i]));
          if (series.y[i] > 0) least = std::min(least, series.y[i]);
          most = std::max(most, series.y[i]);
        }
    for (PlotPanel& panel : all_) {
      panel.log_y = most > 100 * least;
      panel.log_x = log_x;
      panel.x_reach = xs;
      panel.y_reach = ys;
    }
    return std::move(all_);
  }

 private:
  const std::string x_label_, y_label_;
  std::vector<PlotPanel> all_;
};

std::vector<PlotPanel> curve_panels(const Sweep& sweep, const std::vector<SweepSetting>& settings,
                                    const FigureLayout& layout, const std::string& quantity,
                                    const std::string& axis) {
  Panels panels(axis, quantity);
  double shortest = std::numeric_limits<double>::infinity(), longest = 0;
  for (const SweepSetting& setting : settings) {
    const auto curves = setting.curves.find(quantity + " " + axis);
    if (curves == setting.curves.end()) continue;
    PlotPanel& panel = panels.of(name_without(sweep, setting, layout.line_key));
    const std::string name = layout.line_key
                                 ? fmt::format("{} {}", short_key(sweep.keys[*layout.line_key]),
                                               short_value(setting.values[*layout.line_key]))
                                 : "mean of all seeds";
    panel.series.push_back(mean_curve(curves->second, name, panel.series.size()));
    if (panel.series.back().x.empty()) continue;
    shortest = std::min(shortest, panel.series.back().x.back());
    longest = std::max(longest, panel.series.back().x.back());
  }
  // One setting may take a hundred times as long as another.
  return panels.finish(axis == "seconds" && longest > 5 * shortest);
}

std::vector<double> numbers_of(const SweepSetting& setting, const std::string& key) {
  std::vector<double> values;
  for (const auto& summary : setting.summaries)
    if (const auto at = summary.find(key); at != summary.end() && at->is_number())
      values.push_back(at->get<double>());
  return values;
}

// A figure of summary.json over the values of the numeric key: a line for each of the others.
std::vector<PlotPanel> end_panel(const Sweep& sweep, const std::vector<SweepSetting>& settings,
                                 const FigureLayout& layout, const std::string& key,
                                 const std::string& label) {
  const std::size_t along = *layout.line_key;
  Panels panels(short_key(sweep.keys[along]), "");  // the title says it
  PlotPanel& panel = panels.of(label);
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const SweepSetting& setting : settings) {
    const std::string name = name_without(sweep, setting, along);
    auto at = std::find_if(panel.series.begin(), panel.series.end(),
                           [&](const PlotSeries& s) { return s.name == name; });
    if (at == panel.series.end())
      at = panel.series.insert(at, series_named(name, panel.series.size()));
    const double x = *number_in(setting.values[along]);
    const MeanOf mean = mean_of(numbers_of(setting, key));
    at->x.push_back(x);
    at->y.push_back(mean.count > 0 ? mean.mean : nothing);
    at->deviation.push_back(mean.deviation);
    least = std::min(least, x);
    most = std::max(most, x);
  }
  const bool any = std::any_of(panel.series.begin(), panel.series.end(), [](const PlotSeries& s) {
    return std::any_of(s.y.begin(), s.y.end(), [](double y) { return std::isfinite(y); });
  });
  return any ? panels.finish(least > 0 && most > 20 * least) : std::vector<PlotPanel>{};
}

struct EndFigure {
  const char *key, *label;
};
constexpr EndFigure end_figures[] = {{"loss", "final loss"},
                                     {"accuracy", "final accuracy"},
                                     {"S_avg", "staleness S_avg"},
                                     {"W", "weight W of the certificate"},
                                     {"virtual_seconds", "virtual seconds"},
                                     {"samples_per_second", "samples per second"}};

nlohmann::ordered_json table_of(const Sweep& sweep, const std::vector<SweepSetting>& settings) {
  auto table = nlohmann::ordered_json::array();
  for (const SweepSetting& setting : settings) {
    nlohmann::ordered_json row;
    for (std::size_t k = 0; k < sweep.keys.size(); ++k)
      row[sweep.keys[k]] = short_value(setting.values[k]);
    row["runs"] = setting.runs;
    row["diverged"] = setting.diverged;
    for (const EndFigure& figure : end_figures)
      if (const MeanOf mean = mean_of(numbers_of(setting, figure.key)); mean.count > 0)
        row[figure.label] = {{"mean", mean.mean}, {"deviation", mean.deviation}};
    table.push_back(std::move(row));
  }
  return table;
}

// "softmax on fashion-mnist, 105 runs, virtual time"
std::string describe(const Sweep& sweep, const std::string& directory, std::size_t finished) {
  std::string text;
  try {
    const auto config =
        flat_config(text_of_file(directory + "/configs/" + sweep.runs.front().name + ".toml"));
    text = config.value("model", "");
    if (const std::string data = config.value("data", ""); !data.empty())
      text += " on " + std::filesystem::path(data.substr(0, data.find(','))).filename().string();
  } catch (const std::exception&) {  // it is only a title
  }
  text += fmt::format("{}{} runs", text.empty() ? "" : " · ", finished);
  if (finished < sweep.runs.size()) text += fmt::format(" of {}, not finished", sweep.runs.size());
  return text + " · " + (sweep.engine == "simulate" ? "virtual time" : sweep.engine);
}

std::string joined_keys(const Sweep& sweep) {
  std::vector<std::string> keys;
  for (const std::string& key : sweep.keys) keys.push_back(short_key(key));
  return keys.empty() ? "seeds" : fmt::format("{}", fmt::join(keys, ", "));
}

std::string cell_of(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return value.dump();
  return fmt::format("{:.4g} ± {:.2g}", value.at("mean").get<double>(),
                     value.at("deviation").get<double>());
}

}  // namespace

SweepFigures sweep_figures(const Sweep& sweep, const std::string& directory) {
  const auto settings = read_settings(sweep, directory);
  std::size_t finished = 0;
  for (const SweepSetting& setting : settings) finished += setting.runs;
  if (finished == 0) throw InputError(directory + ": no run of this sweep is finished");
  const FigureLayout layout = lay_out(sweep, settings);
  SweepFigures result{"Sweep of " + joined_keys(sweep),
                      describe(sweep, directory, finished),
                      {},
                      table_of(sweep, settings)};
  const auto add = [&](std::string file, std::string title, std::string caption,
                       std::vector<PlotPanel> panels) {
    if (!panels.empty())
      result.figures.push_back(
          {std::move(file), std::move(title), std::move(caption), std::move(panels)});
  };
  if (layout.numeric) {
    std::vector<PlotPanel> ends;
    for (const EndFigure& figure : end_figures)
      for (PlotPanel& panel : end_panel(sweep, settings, layout, figure.key, figure.label))
        ends.push_back(std::move(panel));
    add("at_the_end", "At the end of the runs",
        "Mean over seeds; the band is one standard deviation. Runs that diverged are left out.",
        std::move(ends));
  }
  const std::string caption =
      "Mean over seeds as far as all of them got; the band is one standard deviation.";
  add("loss_over_samples", "Loss over samples", caption,
      curve_panels(sweep, settings, layout, "loss", "samples"));
  add("loss_over_seconds", "Loss over time", caption,
      curve_panels(sweep, settings, layout, "loss", "seconds"));
  add("accuracy_over_samples", "Accuracy over samples", caption,
      curve_panels(sweep, settings, layout, "accuracy", "samples"));
  return result;
}

std::string to_text(const SweepFigures& sweep) {
  std::vector<std::string> names;
  for (const auto& row : sweep.table)
    for (const auto& [name, value] : row.items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  std::string text = fmt::format("{}\n{}\n\n", sweep.title, sweep.subtitle);
  std::vector<std::string> lines(sweep.table.size() + 1);
  for (const std::string& name : names) {
    std::vector<std::string> cells{name};
    for (const auto& row : sweep.table)
      cells.push_back(row.contains(name) ? cell_of(row.at(name)) : "");
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    for (std::size_t k = 0; k < cells.size(); ++k)
      lines[k] += fmt::format("{:{}}  ", cells[k], width);
  }
  for (std::string& line : lines) text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

}  // namespace dasgd::report
