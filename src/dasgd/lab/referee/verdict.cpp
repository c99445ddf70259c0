#include "dasgd/lab/referee/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "dasgd/lab/referee/tuning.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> times_of(const ContestRow& row) {
  std::vector<double> times;
  for (const ContestRun& run : row.runs) times.push_back(run.time_to_goal());
  return times;
}

bool is_dasgd(const ContestRow& row) {
  return row.rival == dasgd_rival || row.rival.starts_with(std::string(dasgd_rival) + ":");
}

// The density of Student's t, but for its constant.
double density(double t, double freedom) {
  return std::pow(1 + t * t / freedom, -(freedom + 1) / 2);
}

// Both tails beyond |t|: Simpson's rule on the substitution t = tan(u), whose range is finite.
double two_tails(double t, double freedom) {
  constexpr int pieces = 2000;
  const auto integral = [&](double from, double to) {
    const double h = (to - from) / pieces;
    const auto f = [&](double u) {
      const double c = std::cos(u);
      return c <= 1e-12 ? 0.0 : density(std::tan(u), freedom) / (c * c);
    };
    double sum = f(from) + f(to);
    for (int k = 1; k < pieces; ++k) sum += (k % 2 == 1 ? 4 : 2) * f(from + h * k);
    return sum * h / 3;
  };
  constexpr double quarter = 1.5707963267948966;
  const double at = std::atan(std::abs(t));
  return integral(at, quarter) / integral(0, quarter);
}

const ContestRow* find_dasgd(const std::vector<ContestRow>& rows) {
  const auto at = std::find_if(rows.begin(), rows.end(), is_dasgd);
  return at == rows.end() ? nullptr : &*at;
}

// Of one pair; a time without an end counts as far as the numbers go, two of them say nothing.
void append_log_ratio(std::vector<double>& logs, double time, double other) {
  if (!std::isfinite(time) && !std::isfinite(other)) return;
  const double ratio = std::isfinite(other) ? time / other : 0;
  logs.push_back(std::log(std::clamp(ratio, 1e-3, 1e3)));
}

// Against DASGD, seed by seed.
void hold_against(const ContestRow& row, const ContestRow& dasgd, std::uint64_t seed,
                  Judgement& judgement) {
  const auto mine = times_of(row), its = times_of(dasgd);
  std::vector<double> ratios, logs;
  for (std::size_t k = 0; k < std::min(mine.size(), its.size()); ++k) {
    if (mine[k] < its[k]) ++judgement.wins;
    if (!std::isfinite(mine[k]) && !std::isfinite(its[k])) continue;
    ratios.push_back(std::isfinite(its[k]) ? mine[k] / its[k] : 0);
    append_log_ratio(logs, mine[k], its[k]);
  }
  if (ratios.empty()) return;
  const double median = median_of(ratios);
  if (std::isfinite(median) && median > 0) {
    judgement.ratio = median;
    judgement.ratio_interval = bootstrap_median(ratios, seed);
  }
  judgement.p = paired_p(logs);
}

// One look, and half of one for rounding.
bool differ_measurably(double a, double b, double every) { return std::abs(a - b) > 1.5 * every; }

// With the step that it has, whatever that is.
std::string compared(const Judgement& j, double dasgd, double every) {
  if (!std::isfinite(j.median)) return "not reached";
  const bool is_significant = j.p && *j.p < 0.05;
  if (!std::isfinite(dasgd)) return is_significant ? "faster" : "no difference shown";
  const bool shown = is_significant && differ_measurably(j.median, dasgd, every) &&
                     j.ratio_interval && (j.ratio_interval->high < 1 || j.ratio_interval->low > 1);
  if (!shown) return "no difference shown";
  return j.ratio_interval->high < 1 ? "faster" : "slower";
}

std::string verdict_of(const ContestRow& row, const Judgement& j, double dasgd, double every) {
  const bool untuned = !tuning_flaw(row).empty() && (row.at_edge || std::isfinite(j.median));
  return untuned ? "not tuned" : compared(j, dasgd, every);
}

std::string seconds(const Judgement& j) {
  return fmt::format("{:.3g} s ({:.3g} to {:.3g})", j.median, j.interval.low, j.interval.high);
}

// "a, b and c": those for whose places it holds.
template <typename Holds>
std::string names_of(const std::vector<ContestRow>& rows, Holds&& holds) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (holds(k)) names.push_back(rows[k].rival);
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

}  // namespace

double distance_to(const Goal& goal, const CurvePoint& at) {
  if (goal.kind == Goal::Kind::accuracy) return 1 - at.accuracy_mean.value_or(0);
  return std::isfinite(at.loss_mean) ? at.loss_mean : std::numeric_limits<double>::infinity();
}
double distance_to(const Goal& goal, const ContestRun& run) {
  if (run.lost) return std::numeric_limits<double>::infinity();
  return distance_to(goal,
                     CurvePoint{.loss_mean = run.loss_mean, .accuracy_mean = run.accuracy_mean});
}

double ContestRun::time_to_goal() const { return reached ? time_s : infinite; }
double ContestRun::samples_per_second(std::uint64_t gradients) const {
  const double all = static_cast<double>(gradients_used + gradients_wasted);
  return all > 0 && time_s > 0
             ? static_cast<double>(samples) * static_cast<double>(gradients) / all / time_s
             : 0;
}

Interval bootstrap_median(const std::vector<double>& values, std::uint64_t seed) {
  constexpr std::size_t draws = 2000;
  if (values.empty()) return {};
  Random random(seed, Purpose::bootstrap);
  std::vector<double> medians, drawn(values.size());
  for (std::size_t k = 0; k < draws; ++k) {
    for (double& value : drawn)
      value = values[random.below(static_cast<std::uint32_t>(values.size()))];
    medians.push_back(median_of(drawn));
  }
  std::sort(medians.begin(), medians.end());
  return {medians[draws / 40], medians[draws - 1 - draws / 40]};
}

double paired_p(const std::vector<double>& differences) {
  const auto n = static_cast<double>(differences.size());
  if (n < 2) return 1;
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / n;
  double squares = 0;
  for (const double d : differences) squares += (d - mean) * (d - mean);
  if (mean == 0) return 1;
  const double error = std::sqrt(squares / (n - 1) / n);
  // Runs without any noise: the difference is there every time.
  if (error <= 1e-12 * std::abs(mean)) return 0;
  return two_tails(mean / error, n - 1);
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest, p[order[k]] * static_cast<double>(p.size() - k));
    adjusted[order[k]] = std::min(1.0, largest);
  }
  return adjusted;
}

std::vector<Judgement> judge(const std::vector<ContestRow>& rows, std::uint64_t seed,
                             double every) {
  std::vector<Judgement> judgements(rows.size());
  const ContestRow* const dasgd = find_dasgd(rows);
  std::vector<double> ps;
  std::vector<std::size_t> whose;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Judgement& j = judgements[k];
    const auto times = times_of(rows[k]);
    j.median = median_of(times);
    j.interval = bootstrap_median(times, seed);
    if (!dasgd) continue;
    hold_against(rows[k], *dasgd, seed, j);
    if (&rows[k] == dasgd || !j.p) continue;
    ps.push_back(*j.p);
    whose.push_back(k);
  }
  const auto adjusted = holm(ps);
  for (std::size_t k = 0; k < whose.size(); ++k) judgements[whose[k]].p = adjusted[k];
  const double reference = dasgd ? median_of(times_of(*dasgd)) : 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    judgements[k].reference = &rows[k] == dasgd;
    if (judgements[k].reference) judgements[k].p.reset();
    judgements[k].verdict = verdict_of(rows[k], judgements[k], reference, every);
  }
  return judgements;
}

WorldVerdict sum_up(const std::string& world, const std::vector<ContestRow>& rows,
                    const std::vector<Judgement>& judgements, double every) {
  WorldVerdict result{.world = world};
  std::size_t best = 0, dasgd = rows.size();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (judgements[k].median < judgements[best].median) best = k;
    if (judgements[k].reference) dasgd = k;
  }
  if (rows.empty() || !std::isfinite(judgements[best].median)) {
    result.sentence = fmt::format("{}: no method reaches the goal in the time given.", world);
    return result;
  }
  result.winner = rows[best].rival;
  std::size_t next = rows.size();
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (k != best && std::isfinite(judgements[k].median) &&
        (next == rows.size() || judgements[k].median < judgements[next].median))
      next = k;
  const bool alone = next == rows.size();
  std::vector<double> logs;
  if (!alone)
    for (std::size_t k = 0; k < std::min(rows[best].runs.size(), rows[next].runs.size()); ++k)
      append_log_ratio(logs, rows[best].runs[k].time_to_goal(), rows[next].runs[k].time_to_goal());
  result.shown =
      alone || (paired_p(logs) < 0.05 &&
                differ_measurably(judgements[best].median, judgements[next].median, every));
  const auto tied = [&](std::size_t k) { return judgements[k].median == judgements[best].median; };
  const bool tie = !alone && tied(next);
  std::string text =
      tie ? fmt::format("{}: {} tie at {}", world, names_of(rows, tied), seconds(judgements[best]))
          : fmt::format("{}: {} is fastest, {}", world, result.winner, seconds(judgements[best]));
  if (const std::string flaw = tuning_flaw(rows[best]); !flaw.empty()) text += ", " + flaw;
  if (!alone && !result.shown && !tie)
    text += fmt::format(", but not shown to be faster than {}, {}", rows[next].rival,
                        seconds(judgements[next]));
  if (dasgd == best) {
    if (!alone && result.shown)
      text += fmt::format("; next is {}, {}", rows[next].rival, seconds(judgements[next]));
  } else if (dasgd < rows.size() && !tied(dasgd)) {
    const Judgement& won = judgements[best];
    if (!std::isfinite(judgements[dasgd].median)) {
      result.dasgd_loses = true;
      text += fmt::format("; DASGD loses: it does not reach the goal in the {:.3g} s given",
                          rows[dasgd].given_s);
    } else if (compared(won, judgements[dasgd].median, every) == "faster") {
      result.dasgd_loses = true;
      text += fmt::format("; DASGD loses: it takes {:.2f} times as long, {}", 1 / *won.ratio,
                          seconds(judgements[dasgd]));
    } else {
      text +=
          fmt::format("; DASGD takes {}, and no difference is shown", seconds(judgements[dasgd]));
    }
    if (const std::string flaw = tuning_flaw(rows[dasgd]); !flaw.empty()) text += " (" + flaw + ")";
  }
  result.sentence = text + ".";
  return result;
}

}  // namespace dasgd
