#include "dasgd/lab/referee/page/explain.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/data/moments.hpp"
#include "dasgd/lab/referee/row_medians.hpp"

namespace dasgd {
namespace {

const ContestRow* reference_of(const JudgedWorld& world) {
  for (std::size_t k = 0; k < world.rows.size(); ++k)
    if (world.judgements[k].reference) return &world.rows[k];
  return nullptr;
}

// Of the normal distribution (Abramowitz and Stegun 26.2.23).
double two_sided_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p / 2));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

// Unless every method takes as long in both, to a hundredth, and some method reaches the goal.
bool differ(const JudgedWorld& a, const JudgedWorld& b) {
  bool reached = false;
  for (std::size_t k = 0; k < std::min(a.judgements.size(), b.judgements.size()); ++k) {
    const double first = a.judgements[k].median, second = b.judgements[k].median;
    if (std::isfinite(first) != std::isfinite(second)) return true;
    if (!std::isfinite(first)) continue;
    reached = true;
    if (std::abs(first - second) > 0.01 * std::max(first, second)) return true;
  }
  return !reached;
}

}  // namespace

std::optional<std::size_t> seeds_to_show(const ContestRow& row, const ContestRow& reference,
                                         std::size_t comparisons) {
  constexpr std::size_t most = 1000;
  constexpr double of_power = 0.84;  // 80 %
  const double z =
      two_sided_quantile(0.05 / static_cast<double>(std::max<std::size_t>(1, comparisons)));
  Moments logs;
  for (std::size_t k = 0; k < std::min(row.runs.size(), reference.runs.size()); ++k)
    if (row.runs[k].reached && reference.runs[k].reached && row.runs[k].time_s > 0 &&
        reference.runs[k].time_s > 0)
      logs.add(std::log(row.runs[k].time_s / reference.runs[k].time_s));
  if (logs.count < 2 || std::abs(logs.mean) < 1e-9) return std::nullopt;
  const double deviation = std::sqrt(logs.squares / (logs.count - 1));
  for (std::size_t seeds = 3; seeds <= most; ++seeds) {
    const auto n = static_cast<double>(seeds);
    const double t = z * (1 + (z * z + 1) / (4 * (n - 1)));  // Student's, by its first terms
    if ((t + of_power) * deviation <= std::abs(logs.mean) * std::sqrt(n)) return seeds;
  }
  return std::nullopt;
}

std::vector<std::string> unshown_differences(const Contest& contest,
                                             const std::vector<JudgedWorld>& worlds) {
  std::vector<std::string> lines;
  for (const JudgedWorld& world : worlds) {
    const ContestRow* const reference = reference_of(world);
    if (!reference) continue;
    std::string text;
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      const Judgement& j = world.judgements[k];
      if (j.verdict != "no difference shown" || !j.ratio || &world.rows[k] == reference) continue;
      const auto at = static_cast<std::size_t>(reference - world.rows.data());
      const double apart = std::abs(j.median - world.judgements[at].median);
      const bool one_look = apart <= 1.5e-9 * static_cast<double>(contest.every);
      const auto needed = seeds_to_show(world.rows[k], *reference, world.rows.size() - 1);
      text += fmt::format(
          "{}{} ({:.2f} times, {})", text.empty() ? "" : ", ", world.rows[k].rival, *j.ratio,
          one_look  ? "less than the interval between evaluations"
          : !needed ? "more than 1,000 seeds would be needed"
                    : fmt::format("about {} would", std::max(*needed, contest.seeds + 1)));
    }
    if (!text.empty())
      lines.push_back(fmt::format("In {}, {} seed{} cannot show a difference from dasgd: {}.",
                                  world.name, contest.seeds, contest.seeds == 1 ? "" : "s", text));
  }
  return lines;
}

std::vector<std::string> doubts_of(const Contest& contest, const std::vector<JudgedWorld>& worlds) {
  constexpr double few_rounds = 5;
  std::vector<std::string> lines;
  for (const JudgedWorld& world : worlds) {
    const auto workers = static_cast<double>(contest.worlds.front().options.workers);
    double fewest = INFINITY;
    std::size_t at_once = 0;
    std::string who;
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      if (!std::isfinite(world.judgements[k].median)) continue;
      const double used =
          median_over(world.rows[k], [](const ContestRun& r) { return r.gradients_used; });
      if (used < fewest) fewest = used, who = world.rows[k].rival;
      if (world.judgements[k].median <= 1.5e-9 * static_cast<double>(contest.every)) ++at_once;
    }
    if (fewest < few_rounds * workers)
      lines.push_back(
          fmt::format("In {}, {} reaches the goal with {:.0f} gradients, {:.1f} per worker: too "
                      "few to distinguish methods; choose a harder goal.",
                      world.name, who, fewest, fewest / workers));
    else if (at_once > 0)
      lines.push_back(fmt::format(
          "In {}, {} of {} methods reach the goal at the first evaluation: too early to "
          "distinguish them; choose a harder goal or evaluate more often.",
          world.name, at_once, world.rows.size()));
  }
  for (std::size_t a = 0; a < worlds.size(); ++a)
    for (std::size_t b = a + 1; b < worlds.size(); ++b)
      if (!differ(worlds[a], worlds[b]))
        lines.push_back(fmt::format(
            "The worlds {} and {} do not differ: each method takes equally long in both. The times "
            "of links or slow workers may be small compared with those of gradients.",
            worlds[a].name, worlds[b].name));
  return lines;
}

}  // namespace dasgd
