#include "dasgd/report/tables/sweep_runs.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/report/metrics_series.hpp"

namespace dasgd::report {
namespace {

using SummaryJson = nlohmann::ordered_json;

MetricsSeries metrics_at(const std::string& path) {
  constexpr std::size_t most_rows = 500;  // more than a picture has room for
  MetricsSeries series(most_rows);
  std::ifstream file = open_file(path);
  for (std::string line; std::getline(file, line);) series.add(parse_json(line));
  return series;
}

Curve curve_of(const MetricsSeries& series, std::size_t value, double MetricsRow::*x) {
  Curve curve;
  for (const MetricsRow& row : series.rows()) {
    if (!row.values[value]) continue;
    curve.x.push_back(row.*x);
    curve.y.push_back(row.values[value]->mean);
  }
  return curve;
}

void add_curves(const std::string& directory, SweepSetting& setting) {
  const MetricsSeries series = metrics_at(directory + "/metrics.jsonl");
  const auto add = [&](const std::string& name, std::size_t value, double MetricsRow::*x) {
    if (Curve curve = curve_of(series, value, x); !curve.x.empty())
      setting.curves[name].push_back(std::move(curve));
  };
  add("loss samples", 0, &MetricsRow::samples);
  add("loss seconds", 0, &MetricsRow::seconds);
  add("accuracy samples", 1, &MetricsRow::samples);
}

}  // namespace

std::optional<double> Curve::at(double where) const {
  const auto next = std::lower_bound(x.begin(), x.end(), where);
  if (next == x.end() || (next == x.begin() && *next > where)) return std::nullopt;
  const auto k = static_cast<std::size_t>(next - x.begin());
  if (*next == where || k == 0) return y[k];
  const double share = (where - x[k - 1]) / (x[k] - x[k - 1]);
  return y[k - 1] + share * (y[k] - y[k - 1]);
}

MeanOf mean_of(const std::vector<double>& values) {
  MeanOf result{values.size()};
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return result;
}

std::vector<SweepSetting> read_settings(const Sweep& sweep, const std::string& directory) {
  std::vector<SweepSetting> settings;
  for (const SweepRun& run : sweep.runs) {
    const std::string path = sweep_run_path(directory, run.name);
    if (!is_finished_run(path)) continue;
    const auto same = [&](const SweepSetting& s) { return s.values == run.values; };
    auto at = std::find_if(settings.begin(), settings.end(), same);
    if (at == settings.end()) at = settings.insert(settings.end(), SweepSetting{run.values});
    ++at->runs;
    std::ifstream file = open_file(path + "/summary.json");
    auto summary = parse_json<SummaryJson>(file);
    if (summary["stop_reason"] == "diverged") {
      ++at->diverged;
      continue;
    }
    at->summaries.push_back(std::move(summary));
    add_curves(path, *at);
  }
  return settings;
}

}  // namespace dasgd::report
