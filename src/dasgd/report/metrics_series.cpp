#include "dasgd/report/metrics_series.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "dasgd/base/parse_json.hpp"

namespace dasgd::report {
namespace {

std::optional<double> number(const nlohmann::json& line, const char* key) {
  const auto at = line.find(key);
  return at != line.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

std::vector<double> numbers(const nlohmann::json& line, const char* key) {
  std::vector<double> result;
  const auto at = line.find(key);
  if (at == line.end() || !at->is_array()) return result;
  for (const auto& item : *at) {
    if (!item.is_number()) return {};
    result.push_back(item.get<double>());
  }
  return result;
}

void merge(MetricsRow& to, MetricsRow&& next) {
  const auto joined = [&](const Spread& a, const Spread& b) {
    return Spread{(a.mean * to.lines + b.mean * next.lines) / (to.lines + next.lines),
                  std::min(a.least, b.least), std::max(a.most, b.most)};
  };
  for (std::size_t k = 0; k < to.values.size(); ++k)
    if (const auto& b = next.values[k])
      to.values[k] = to.values[k] ? joined(*to.values[k], *b) : *b;
  for (const auto& [name, b] : next.own) {
    const auto [at, is_new] = to.own.try_emplace(name, b);
    if (!is_new) at->second = joined(at->second, b);
  }
  if (next.inbox_by_worker.size() == to.inbox_by_worker.size())
    for (std::size_t w = 0; w < to.inbox_by_worker.size(); ++w)
      next.inbox_by_worker[w] = std::max(next.inbox_by_worker[w], to.inbox_by_worker[w]);
  next.lines += to.lines;
  next.values = to.values;
  next.own = std::move(to.own);
  to = std::move(next);
}

}  // namespace

void MetricsSeries::add_own(MetricsRow& row, const std::string& name, double value) {
  const bool is_known = std::ranges::count(own_names_, name) > 0;
  if (!std::isfinite(value) || (!is_known && own_names_.size() == most_own_names)) return;
  if (!is_known) own_names_.push_back(name);
  row.own[name] = {value, value, value};
}

void MetricsSeries::add(const RunFigures& figures) { add(parse_json(metrics_line(figures))); }

bool MetricsSeries::add(const nlohmann::json& line) {
  if (!line.is_object()) return false;
  const auto seconds = number(line, "seconds");
  if (!seconds) return false;
  MetricsRow row;
  row.seconds = *seconds;
  // A line of an evaluation alone does not say how far the run was.
  const MetricsRow before = rows_.empty() ? MetricsRow{} : rows_.back();
  row.gradients = number(line, "gradients").value_or(before.gradients);
  row.applications = number(line, "applications").value_or(before.applications);
  row.samples = number(line, "samples").value_or(before.samples);
  for (std::size_t k = 0; k < row.values.size(); ++k)
    if (const auto value = number(line, MetricsRow::names[k]))
      row.values[k] = Spread{*value, *value, *value};
  if (const auto own = line.find("own"); own != line.end() && own->is_object())
    for (const auto& [name, value] : own->items())
      if (value.is_number()) add_own(row, name, value.get<double>());
  row.gradients_by_worker = in_all_legs(numbers(line, "gradients_by_worker"));
  row.inbox_by_worker = numbers(line, "inbox_by_worker");
  append(std::move(row));
  return true;
}

// Each leg of a run counts from 0.
std::vector<double> MetricsSeries::in_all_legs(std::vector<double> made) {
  if (made.empty()) return made;
  const std::size_t common = std::min(made.size(), made_in_leg_.size());
  const bool is_new_leg = !std::ranges::equal(
      std::span(made).first(common), std::span(made_in_leg_).first(common), std::greater_equal());
  if (is_new_leg) {
    made_before_.resize(std::max(made_before_.size(), made_in_leg_.size()));
    for (std::size_t w = 0; w < made_in_leg_.size(); ++w) made_before_[w] += made_in_leg_[w];
  }
  made_in_leg_ = made;
  for (std::size_t w = 0; w < std::min(made.size(), made_before_.size()); ++w)
    made[w] += made_before_[w];
  return made;
}

std::size_t MetricsSeries::most() const {
  constexpr std::size_t usual_workers = 64;
  const std::size_t workers = rows_.empty() ? 0 : rows_.back().gradients_by_worker.size();
  return workers <= usual_workers ? most_ : std::max(most_ / 16, most_ * usual_workers / workers);
}

void MetricsSeries::append(MetricsRow row) {
  if (!rows_.empty() && rows_.back().lines < static_cast<double>(per_row_)) {
    merge(rows_.back(), std::move(row));
  } else {
    rows_.push_back(std::move(row));
  }
  if (rows_.size() <= most()) return;
  std::vector<MetricsRow> halved;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    if (k % 2 == 0) {
      halved.push_back(std::move(rows_[k]));
    } else {
      merge(halved.back(), std::move(rows_[k]));
    }
  }
  rows_ = std::move(halved);
  per_row_ *= 2;
}

}  // namespace dasgd::report
