#include "dasgd/lab/referee/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace dasgd {
namespace {

constexpr double grid_factor = 2;

bool better(const Trial& a, const Trial& b) {
  if (a.median != b.median) return a.median < b.median;
  return a.distance < b.distance;
}

Trial try_with_all_seeds(double eta, const Tuning& tuning, const Goal& goal, ContestRow& row,
                         const std::function<ContestRun(std::size_t seed)>& run_one) {
  std::vector<double> times, losses, distances;
  for (std::size_t seed = 0; seed < tuning.seeds; ++seed) {
    const ContestRun run = run_one(seed);
    ++row.tuning_runs;
    times.push_back(run.time_to_goal());
    losses.push_back(std::isfinite(run.loss_mean) ? run.loss_mean
                                                  : std::numeric_limits<double>::infinity());
    distances.push_back(distance_to(goal, run));
  }
  return {eta, median_of(times), median_of(losses), median_of(distances)};
}

std::optional<Nanoseconds> time_for(double fastest, const Tuning& tuning) {
  if (!std::isfinite(fastest)) return std::nullopt;
  return static_cast<Nanoseconds>(fastest * tuning.patience * 1e9) + 1;
}

/// The grid: exponents of the factor around the middle.
class Grid {
 public:
  Grid(double middle, const Tuning& tuning, const Goal& goal, const TryStep& try_step,
       ContestRow& row)
      : middle_(middle), tuning_(tuning), goal_(goal), try_step_(try_step), row_(row) {}

  void try_exponent(int e) {
    const double eta = middle_ * std::pow(grid_factor, e);
    trials_[e] = try_with_all_seeds(eta, tuning_, goal_, row_, [&](std::size_t seed) {
      return try_step_(eta, seed, time_for(fastest(), tuning_));
    });
  }

  /// Whether a step between this one and the best has failed already: then this one is no better.
  bool is_hopeless(int e) const {
    if (trials_.empty() || !std::isfinite(trials_.at(best()).median)) return false;
    const auto [low, high] = std::minmax({e, best()});
    return std::any_of(trials_.lower_bound(low), trials_.upper_bound(high),
                       [](const auto& t) { return !std::isfinite(t.second.median); });
  }

  int best() const {
    auto best = trials_.begin();
    for (auto at = trials_.begin(); at != trials_.end(); ++at)
      if (better(at->second, best->second)) best = at;
    return best->first;
  }
  bool reaches_goal() const { return std::isfinite(fastest()); }
  int lowest() const { return trials_.begin()->first; }
  int highest() const { return trials_.rbegin()->first; }
  const std::map<int, Trial>& trials() const { return trials_; }

 private:
  double fastest() const {
    double found = std::numeric_limits<double>::infinity();
    for (const auto& [e, trial] : trials_) found = std::min(found, trial.median);
    return found;
  }

  const double middle_;
  const Tuning& tuning_;
  const Goal& goal_;
  const TryStep& try_step_;
  ContestRow& row_;
  std::map<int, Trial> trials_;
};

}  // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  if (n == 0) return 0;
  if (n % 2 == 1 || !std::isfinite(values[n / 2])) return values[n / 2];
  return (values[n / 2 - 1] + values[n / 2]) / 2;
}

void tune(const Tuning& tuning, const Goal& goal, double middle, const TryStep& try_step,
          ContestRow& row) {
  Grid grid(middle, tuning, goal, try_step, row);
  const int down = static_cast<int>(tuning.steps) / 2,
            up = static_cast<int>(tuning.steps) - 1 - down;
  grid.try_exponent(0);
  for (int distance = 1; distance <= std::max(up, down); ++distance)
    for (const int e : {-distance, distance})
      if (e >= -down && e <= up && !grid.is_hopeless(e)) grid.try_exponent(e);
  for (std::size_t k = 0; k < tuning.further && grid.best() == grid.highest(); ++k)
    grid.try_exponent(grid.highest() + 1);
  // Steps that are all too large leave losses that say little: smaller ones are tried anyway.
  for (std::size_t k = 0;
       k < tuning.further && (grid.best() == grid.lowest() || !grid.reaches_goal()); ++k)
    grid.try_exponent(grid.lowest() - 1);
  row.trials.clear();
  for (const auto& [e, trial] : grid.trials()) row.trials.push_back(trial);
  row.eta = grid.trials().at(grid.best()).eta;
  row.tuned = true;
  row.at_edge = grid.best() == grid.lowest() || grid.best() == grid.highest();
}

double tune_number(const Tuning& tuning, const Goal& goal, const RivalParameter& parameter,
                   double usual, const TryNumber& try_number, ContestRow& row) {
  const double least = parameter.of_workers > 0 ? 1 : parameter.least;
  std::size_t left =
      std::max(tuning.further, tuning.steps - std::min(tuning.steps, row.trials.size()));
  Trial best = *std::min_element(row.trials.begin(), row.trials.end(), better);
  std::set<double> tried{usual};
  double number = usual;
  // Away from the best until so many values in a row are no better.
  const auto walk = [&](double factor, std::size_t most_misses) {
    double next = number;
    for (std::size_t misses = 0; left > 0 && misses < most_misses;) {
      next = factor > 1 ? std::max(1.0, factor * next) : std::floor(factor * next);
      if (next < least || next > parameter.most || tried.contains(next)) break;
      --left;
      ++misses;
      tried.insert(next);
      const Trial trial = try_with_all_seeds(row.eta, tuning, goal, row, [&](std::size_t seed) {
        return try_number(next, seed, time_for(best.median, tuning));
      });
      if (!better(trial, best)) continue;
      best = trial;
      number = next;
      misses = 0;
    }
  };
  walk(4, 2);
  if (number == usual) walk(0.25, 2);
  walk(2, 1);
  walk(0.5, 1);
  return number;
}

Nanoseconds time_given(const Contest& contest, const ContestWorld& world,
                       std::span<const ContestRow> rows) {
  const Nanoseconds all = world.options.max_time->count();
  double best = std::numeric_limits<double>::infinity();
  for (const ContestRow& row : rows)
    for (const Trial& trial : row.trials) best = std::min(best, trial.median);
  const double most = contest.most_times_best * best * 1e9;
  return most > 0 && most < static_cast<double>(all) ? static_cast<Nanoseconds>(most) : all;
}

bool reached_in_tuning(const ContestRow& row) {
  return std::any_of(row.trials.begin(), row.trials.end(),
                     [](const Trial& t) { return std::isfinite(t.median); });
}

std::string tuning_flaw(const ContestRow& row) {
  if (!row.tuned) return "";
  if (row.at_edge) return "with the last step tried";
  const bool reached = row.trials.empty() || reached_in_tuning(row);
  return reached ? "" : "with a step that did not reach the goal in tuning";
}

std::pair<double, double> good_range(const std::vector<Trial>& trials) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const Trial& trial : trials) fastest = std::min(fastest, trial.median);
  if (!std::isfinite(fastest)) return {0, 0};
  double low = 0, high = 0;
  for (const Trial& trial : trials) {
    if (trial.median > 2 * fastest) continue;
    if (low == 0) low = trial.eta;
    high = trial.eta;
  }
  return {low, high};
}

}  // namespace dasgd
