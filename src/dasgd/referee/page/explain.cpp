#include "dasgd/referee/page/explain.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/data/moments.hpp"
#include "dasgd/referee/row_medians.hpp"
#include "dasgd/rivals/methods/all_rivals.hpp"

namespace dasgd {
namespace {

const ContestRow* reference_of(const JudgedWorld& world) {
  const auto at = std::find_if(world.rows.begin(), world.rows.end(),
                               [](const ContestRow& row) { return row.rival == dasgd_rival; });
  return at == world.rows.end() ? nullptr : &*at;
}

// Every method takes as long in both, to a hundredth.
bool differ(const JudgedWorld& a, const JudgedWorld& b) {
  for (std::size_t k = 0; k < std::min(a.judgements.size(), b.judgements.size()); ++k) {
    const double first = a.judgements[k].median, second = b.judgements[k].median;
    if (std::isfinite(first) != std::isfinite(second)) return true;
    if (std::isfinite(first) && std::abs(first - second) > 0.01 * std::max(first, second))
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> seeds_to_show(const ContestRow& row, const ContestRow& reference) {
  constexpr double quantiles = 1.96 + 0.84;  // of 5 % on both sides, and of a power of 80 %
  constexpr double most = 1000;
  Moments logs;
  for (std::size_t k = 0; k < std::min(row.runs.size(), reference.runs.size()); ++k)
    if (row.runs[k].reached && reference.runs[k].reached && row.runs[k].time_s > 0 &&
        reference.runs[k].time_s > 0)
      logs.add(std::log(row.runs[k].time_s / reference.runs[k].time_s));
  if (logs.count < 2 || std::abs(logs.mean) < 1e-9) return std::nullopt;
  const double deviation = std::sqrt(logs.squares / (logs.count - 1));
  const double seeds = std::ceil(std::pow(quantiles * deviation / logs.mean, 2)) + 2;
  return seeds <= most ? std::optional(static_cast<std::size_t>(seeds)) : std::nullopt;
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
      const auto needed = seeds_to_show(world.rows[k], *reference);
      text += fmt::format("{}{} ({:.2f} times{})", text.empty() ? "" : ", ", world.rows[k].rival,
                          *j.ratio,
                          !needed                    ? ", as good as the same"
                          : *needed <= contest.seeds ? ", less than one look can tell"
                                                     : fmt::format(", about {} would", *needed));
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
    std::string who;
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      if (!std::isfinite(world.judgements[k].median)) continue;
      const double used =
          median_over(world.rows[k], [](const ContestRun& r) { return r.gradients_used; });
      if (used < fewest) fewest = used, who = world.rows[k].rival;
    }
    if (fewest < few_rounds * workers)
      lines.push_back(fmt::format(
          "In {}, {} reaches the goal with {:.0f} gradients, {:.1f} per worker: too few to tell "
          "methods apart; choose a goal that takes longer.",
          world.name, who, fewest, fewest / workers));
  }
  for (std::size_t a = 0; a < worlds.size(); ++a)
    for (std::size_t b = a + 1; b < worlds.size(); ++b)
      if (!differ(worlds[a], worlds[b]))
        lines.push_back(
            fmt::format("The worlds {} and {} do not differ: every method takes as long in both. "
                        "Times of links "
                        "or of slow workers may be small against those of gradients.",
                        worlds[a].name, worlds[b].name));
  return lines;
}

}  // namespace dasgd
