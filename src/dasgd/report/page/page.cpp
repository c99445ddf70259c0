#include "dasgd/report/page/page.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "dasgd/record/json_number.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/record/stop_words.hpp"

namespace dasgd::report {
using Json = nlohmann::ordered_json;
namespace {

// Six digits are more than a screen shows; JSON has no infinity and no NaN.
Json number(double value) {
  if (!std::isfinite(value)) return json_number(value);
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  const std::string text = fmt::format("{:.6g}", value);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

template <typename Rows, typename Value>
Json column(const Rows& rows, Value&& value) {
  Json result = Json::array();
  for (const auto& row : rows) result.push_back(value(row));
  return result;
}

// Per worker one series over the rows.
Json by_worker(const std::vector<MetricsRow>& rows, std::vector<double> MetricsRow::*member) {
  std::size_t workers = 0;
  for (const MetricsRow& row : rows) workers = std::max(workers, (row.*member).size());
  Json result = Json::array();
  for (std::size_t w = 0; w < workers; ++w)
    result.push_back(column(rows, [&](const MetricsRow& row) {
      return w < (row.*member).size() ? number((row.*member)[w]) : Json();
    }));
  return result;
}

Json metrics(const MetricsSeries& series) {
  const auto& rows = series.rows();
  Json json{{"seconds", column(rows, [](const auto& r) { return number(r.seconds); })},
            {"gradients", column(rows, [](const auto& r) { return number(r.gradients); })},
            {"applications", column(rows, [](const auto& r) { return number(r.applications); })},
            {"samples", column(rows, [](const auto& r) { return number(r.samples); })}};
  const auto curve = [&](const auto& value_of) {
    const auto part = [&](double Spread::*member) {
      return column(rows, [&](const MetricsRow& row) {
        const std::optional<Spread> value = value_of(row);
        return value ? number((*value).*member) : Json();
      });
    };
    Json values{{"mean", part(&Spread::mean)}};
    if (!series.merged()) return values;
    values["min"] = part(&Spread::least);
    values["max"] = part(&Spread::most);
    return values;
  };
  for (std::size_t k = 0; k < MetricsRow::names.size(); ++k)
    if (std::any_of(rows.begin(), rows.end(), [&](const auto& r) { return r.values[k]; }))
      json[MetricsRow::names[k]] = curve([&](const MetricsRow& row) { return row.values[k]; });
  for (const std::string& name : series.own_names())
    json["own"][name] = curve([&](const MetricsRow& row) {
      const auto at = row.own.find(name);
      return at == row.own.end() ? std::nullopt : std::optional(at->second);
    });
  json["gradients_by_worker"] = by_worker(rows, &MetricsRow::gradients_by_worker);
  json["inbox_by_worker"] = by_worker(rows, &MetricsRow::inbox_by_worker);
  return json;
}

// Exact up to 48 values; beyond that in bins of equal width.
Json histogram(const TraceDigest& trace) {
  const std::uint64_t most = trace.histogram().rbegin()->first;
  const std::uint64_t width = most / 48 + 1;
  std::vector<std::uint64_t> counts(most / width + 1);
  for (const auto& [S, count] : trace.histogram()) counts[S / width] += count;
  return {{"width", width}, {"counts", counts}};
}

Json heat_map(const TraceDigest& trace) {
  Json mean = Json::array(), most = Json::array();
  for (std::size_t g = 0; g < trace.groups(); ++g) {
    Json means = Json::array(), mosts = Json::array();
    for (std::size_t o = 0; o < trace.groups(); ++o) {
      const Extent& cell = trace.heat(g, o);
      means.push_back(cell.count == 0 ? Json() : number(cell.mean()));
      mosts.push_back(cell.count == 0 ? Json() : Json(cell.most));
    }
    mean.push_back(means);
    most.push_back(mosts);
  }
  return {{"mean", mean}, {"max", most}};
}

// Bars as gap, length, computing time; ticks as gap, count: small numbers make a small page.
Json time_lines(const TraceDigest& trace) {
  Json rows = Json::array();
  for (const TimeLine& line : trace.time_lines()) {
    Json bars = Json::array(), ticks = Json::array();
    Nanoseconds at = 0;
    for (const Bar& bar : line.bars) {
      bars.push_back(bar.start - at);
      bars.push_back(bar.end - bar.start);
      if (trace.resolution() > 0) bars.push_back(bar.busy);
      at = bar.end;
    }
    at = 0;
    for (const Tick& tick : line.ticks) {
      ticks.push_back(tick.time - at);
      ticks.push_back(tick.count);
      at = tick.time;
    }
    rows.push_back({{"worker", line.worker}, {"bars", bars}, {"ticks", ticks}});
  }
  return {{"resolution", trace.resolution()},
          {"since", trace.whole_since()},
          {"workers_per_line", trace.workers_per_line()},
          {"rows", rows}};
}

Json over_time(const TraceDigest& trace) {
  const auto& moments = trace.moments();
  const std::size_t groups = trace.groups();
  const auto extent = [&](auto value) {
    return column(moments,
                  [&](const Moment& m) { return m.S.count == 0 ? Json() : number(value(m.S)); });
  };
  // Backlog: gradients that exist and that a worker of the group has not applied yet.
  Json computed = Json::array(), backlog = Json::array();
  std::vector<double> existing;
  double all = 0;
  for (const Moment& m : moments) {
    for (const std::uint32_t c : m.computed) all += c;
    existing.push_back(all);
  }
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t first = g * trace.workers_per_group();
    const auto size =
        static_cast<double>(std::min(trace.workers(), first + trace.workers_per_group()) - first);
    Json made = Json::array(), waiting = Json::array();
    double has = 0;
    for (std::size_t k = 0; k < moments.size(); ++k) {
      const Moment& m = moments[k];
      const double own = g < m.computed.size() ? m.computed[g] : 0;
      has += own + (g < m.applied.size() ? m.applied[g] : 0);
      made.push_back(number(own / size));
      waiting.push_back(number(existing[k] - has / size));
    }
    computed.push_back(made);
    backlog.push_back(waiting);
  }
  return {{"bucket", trace.bucket_width()},
          {"S_min", extent([](const Extent& e) { return static_cast<double>(e.least); })},
          {"S_mean", extent([](const Extent& e) { return e.mean(); })},
          {"S_max", extent([](const Extent& e) { return static_cast<double>(e.most); })},
          {"computed", computed},
          {"backlog", backlog}};
}

Json trace_json(const TraceDigest& trace) {
  return {{"applications", trace.applications()},
          {"gradients", trace.gradients()},
          {"workers", trace.workers()},
          {"workers_per_group", trace.workers_per_group()},
          {"end", trace.end()},
          {"over_time", over_time(trace)},
          {"histogram", histogram(trace)},
          {"heat", heat_map(trace)},
          {"time_lines", time_lines(trace)}};
}

}  // namespace

Json to_json(const Run& run) {
  const std::string stopped = run.ended ? stop_in_words(run.summary.value("stop_reason", "")) : "";
  Json json{{"name", run.name},
            {"label", run.label},
            {"path", run.path},
            {"notes", run.notes},
            {"stopped", stopped},
            {"ended", run.ended},
            {"virtual", run.is_virtual()},
            {"config", run.config},
            {"summary", run.summary},
            {"advice", run.advice},
            {"samples", run.samples},
            {"worst", run.worst},
            {"members", run.members},
            {"limits", Json::array()},
            {"metrics", nullptr},
            {"trace", nullptr}};
  for (const EtaLimit& limit : run.limits)
    json["limits"].push_back(
        {{"name", limit.name}, {"eta", number(limit.eta)}, {"status", limit.status}});
  if (!run.metrics.rows().empty()) json["metrics"] = metrics(run.metrics);
  if (run.trace) json["trace"] = trace_json(*run.trace);
  return json;
}

Json page_data(std::span<const Run> runs) {
  Json data{{"kind", "report"}, {"version", version()}, {"runs", Json::array()}};
  for (const Run& run : runs) data["runs"].push_back(to_json(run));
  return data;
}

Json page_data(const FiguresPage& page) {
  Json data{{"kind", "figures"},         {"version", version()},     {"title", page.title},
            {"subtitle", page.subtitle}, {"figures", Json::array()}, {"table", page.table},
            {"findings", page.findings}, {"facts", Json::array()}};
  for (const auto& [name, value] : page.facts) data["facts"].push_back({name, value});
  for (const Figure& figure : page.figures)
    data["figures"].push_back({{"title", figure.title},
                               {"caption", figure.caption},
                               {"panels", figure.panels},
                               {"linear", figure.linear}});
  return data;
}

std::string fill_page(std::string_view page, const Json& data) {
  constexpr std::string_view placeholder = "\"DASGD_DATA\"";
  const std::size_t at = page.find(placeholder);
  if (at == page.npos) throw std::logic_error("the page has no place for its data");
  std::string filled(page.substr(0, at));
  // Inside <script> nothing may look like the end of it; < only ever stands in strings.
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      filled += "\\u003c";
    } else {
      filled += c;
    }
  }
  return filled.append(page.substr(at + placeholder.size()));
}

}  // namespace dasgd::report
