#include "dasgd/run/figures.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace dasgd {

std::string metrics_line(const RunFigures& f) {
  nlohmann::ordered_json line{{"seconds", f.seconds},
                              {"gradients", f.gradients},
                              {"applications", f.applications},
                              {"samples", f.samples},
                              {"gradients_per_second", f.gradients_per_second},
                              {"S_now", f.S_now},
                              {"S_avg", f.S_avg},
                              {"S_max", f.S_max},
                              {"inbox_depth", f.inbox_depth},
                              {"folded", f.folded},
                              {"waited_seconds", f.waited_seconds}};
  const auto add_number = [&](const char* key, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) line[key] = *value;
  };
  if (f.look_ahead) {
    line["lambda"] = f.look_ahead->lambda;
    line["missing_estimated"] = f.look_ahead->missing_estimated;
    line["missing_true"] = f.look_ahead->missing_true;
  }
  add_number("certified_eta", f.certified_eta);
  add_number("loss", f.loss);
  add_number("accuracy", f.accuracy);
  add_number("eval_loss", f.eval_loss);
  add_number("train_loss", f.train_loss);
  if (f.arrived) line["arrived"] = *f.arrived;
  add_number("prequential_accuracy", f.prequential);
  for (const auto& [name, value] : f.own)
    if (std::isfinite(value)) line["own"][name] = value;
  const auto add = [&](const char* key, const auto& by_worker) {
    if (!by_worker.empty() && by_worker.size() <= most_workers_in_metrics) line[key] = by_worker;
  };
  add("gradients_by_worker", f.gradients_by_worker);
  add("inbox_by_worker", f.inbox_by_worker);
  add("waited_by_worker", f.waited_by_worker);
  return line.dump() + "\n";
}

void FigureLog::add(RunFigures figures, double sum_S) {
  // A round of all workers is the shortest distance: then looking at each of them costs little.
  if (distance_ == 0) distance_ = std::max<std::uint64_t>(1, figures.gradients_by_worker.size());
  next_ = figures.applications + distance_;
  if (!rows_.empty() && rows_.back().figures.applications == figures.applications) rows_.pop_back();
  rows_.push_back({std::move(figures), sum_S});
  if (rows_.size() < most_) return;
  for (std::size_t k = 0; 2 * k + 1 < rows_.size(); ++k) rows_[k] = std::move(rows_[2 * k + 1]);
  rows_.resize(rows_.size() / 2);
  distance_ *= 2;
  next_ = rows_.back().figures.applications + distance_;
}

std::vector<RunFigures> FigureLog::rows() const {
  std::vector<RunFigures> result;
  RunFigures before;
  double sum_S = 0;
  for (const Row& row : rows_) {
    RunFigures now = row.figures;
    const double passed = now.seconds - before.seconds;
    if (passed > 0)
      now.gradients_per_second = static_cast<double>(now.gradients - before.gradients) / passed;
    const auto applied = static_cast<double>(now.applications - before.applications);
    if (applied > 0) now.S_now = (row.sum_S - sum_S) / applied;
    sum_S = row.sum_S;
    before = now;
    result.push_back(std::move(now));
  }
  return result;
}

}  // namespace dasgd
