#include "dasgd/lab/referee/results.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "dasgd/base/units.hpp"
#include "dasgd/lab/referee/contest/worlds.hpp"
#include "dasgd/lab/referee/lower_bound.hpp"
#include "dasgd/lab/referee/row_medians.hpp"
#include "dasgd/record/json_number.hpp"
#include "dasgd/record/run_summary.hpp"

namespace dasgd {
namespace {

using Json = nlohmann::ordered_json;

Json pair_of(const std::optional<Interval>& interval) {
  return interval ? Json{json_number(interval->low), json_number(interval->high)} : Json();
}
Json number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json();
}

Json trials_json(const ContestRow& row) {
  Json trials = Json::array();
  for (const Trial& t : row.trials)
    trials.push_back({{"eta", t.eta},
                      {"median", json_number(t.median)},
                      {"loss", json_number(t.loss)},
                      {"distance", json_number(t.distance)}});
  return trials;
}

Json row_json(const ContestRow& row, const Judgement& j, const Contest& contest) {
  const auto reached = std::count_if(row.runs.begin(), row.runs.end(),
                                     [](const ContestRun& run) { return run.reached; });
  const auto [low, high] = good_range(row.trials);
  const auto untuned = std::find_if(row.trials.begin(), row.trials.end(),
                                    [&](const Trial& t) { return t.eta == contest.advised_eta; });
  return {{"rival", row.rival},
          {"world", row.world},
          {"eta", row.eta},
          {"numbers", row.numbers},
          {"tuned", row.tuned && tuning_flaw(row).empty()},
          {"seeds", row.runs.size()},
          {"reached", reached},
          {"median", json_number(j.median)},
          {"interval", pair_of(j.interval)},
          {"ratio", number_or_null(j.ratio)},
          {"ratio_interval", pair_of(j.ratio_interval)},
          {"wins", j.wins},
          {"p", number_or_null(j.p)},
          {"verdict", j.verdict},
          {"reference", j.reference},
          {"given_s", row.given_s},
          {"untuned_median", untuned == row.trials.end() ? Json() : json_number(untuned->median)},
          {"tuning_runs", row.tuning_runs},
          {"good_range", low > 0 ? Json{low, high} : Json()},
          {"gradients_used", median_over(row, [](auto& r) { return r.gradients_used; })},
          {"gradients_wasted", median_over(row, [](auto& r) { return r.gradients_wasted; })},
          {"samples_per_s",
           median_over(row, [](auto& r) { return r.samples_per_second(r.gradients_used); })},
          {"samples_wasted_per_s",
           median_over(row, [](auto& r) { return r.samples_per_second(r.gradients_wasted); })},
          {"idle_share", median_over(row, [](auto& r) { return r.idle_share; })},
          {"S_avg", number_or_null(median_where_known(row, [](auto& r) { return r.S_avg; }))},
          {"S_max", number_or_null(median_where_known(row, [](auto& r) { return r.S_max; }))},
          {"bytes_total", median_over(row, [](auto& r) { return r.bytes_total; })},
          {"bytes_busiest_node", median_over(row, [](auto& r) { return r.bytes_busiest_node; })},
          {"consensus", json_number(median_over(row, [](auto& r) { return r.consensus; }))},
          {"loss_mean", json_number(median_over(row, [](auto& r) { return r.loss_mean; }))},
          {"loss_worst", json_number(median_over(row, [](auto& r) { return r.loss_worst; }))},
          {"accuracy_mean",
           number_or_null(median_where_known(row, [](auto& r) { return r.accuracy_mean; }))},
          {"accuracy_worst",
           number_or_null(median_where_known(row, [](auto& r) { return r.accuracy_worst; }))},
          {"lost_updates", median_over(row, [](auto& r) { return r.lost_updates; })},
          {"memory_models", median_over(row, [](auto& r) { return r.memory_models; })},
          {"limits", kind_of(row, contest).limits},
          {"trials", trials_json(row)}};
}

// Of the times to the goal: that of each real run against its prediction.
std::optional<double> real_over_predicted(const ContestRow& row) {
  std::vector<double> ratios;
  for (std::size_t k = 0; k < row.predicted.size(); ++k)
    if (row.runs[k].reached && row.predicted[k].reached)
      ratios.push_back(row.runs[k].time_s / row.predicted[k].time_s);
  return ratios.empty() ? std::nullopt : std::optional(median_of(ratios));
}

double predicted_median(const ContestRow& row) {
  std::vector<double> times;
  for (const ContestRun& run : row.predicted) times.push_back(run.time_to_goal());
  return median_of(times);
}

void add_prediction(const ContestRow& row, Json& json) {
  if (row.predicted.empty()) return;
  json["predicted_median"] = json_number(predicted_median(row));
  json["real_over_predicted"] = number_or_null(real_over_predicted(row));
}

std::string ratio_text(const Judgement& j) {
  if (!j.ratio) return "";
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", *j.ratio, j.ratio_interval->low,
                     j.ratio_interval->high);
}

std::string time_text(const Judgement& j, const ContestRow& row) {
  if (std::isfinite(j.median)) return fmt::format("{:.4g}", j.median);
  return fmt::format(">= {:.4g}", median_over(row, [](auto& r) { return r.time_s; }));
}

std::string predicted_text(const ContestRow& row) {
  if (const double predicted = predicted_median(row); std::isfinite(predicted))
    return fmt::format("{:.4g}", predicted);
  std::vector<double> times;
  for (const ContestRun& run : row.predicted) times.push_back(run.time_s);
  return fmt::format(">= {:.4g}", median_of(times));
}

std::size_t width_of_labels(const Contest& contest, std::span<const JudgedWorld> worlds) {
  std::size_t width = 26;
  for (const JudgedWorld& world : worlds)
    for (const ContestRow& row : world.rows) width = std::max(width, label_of(row, contest).size());
  return width;
}

std::string predictions_text(const JudgedWorld& world, const Contest& contest) {
  const std::size_t width = width_of_labels(contest, {&world, 1});
  std::string text = fmt::format("\n{}, real and predicted\n  {:{}} {:>10} {:>10} {:>8}\n",
                                 world.name, "", width, "seconds", "predicted", "ratio");
  for (std::size_t k = 0; k < world.rows.size(); ++k) {
    const ContestRow& row = world.rows[k];
    const auto ratio = real_over_predicted(row);
    text += fmt::format("  {:{}} {:>10} {:>10} {:>8}\n", row.rival, width,
                        time_text(world.judgements[k], row), predicted_text(row),
                        ratio ? fmt::format("{:.3f}", *ratio) : "");
  }
  for (const ContestRow& row : world.rows)
    if (kind_of(row, contest).shares_memory)
      text += fmt::format("  {}: {:.0f} numbers were overwritten while others added to them\n",
                          row.rival, median_over(row, [](auto& r) { return r.lost_updates; }));
  return text;
}

std::string megabytes(double bytes) { return fmt::format("{:.3g}", bytes * 1e-6); }

// Where it does not reach the goal or is not tuned, that is more important.
bool is_reference(const Judgement& j) { return j.reference && j.verdict == "no difference shown"; }

}  // namespace

const ChosenRival& rival_of(const ContestRow& row, const Contest& contest) {
  return *std::ranges::find(contest.rivals, row.rival, &ChosenRival::label);
}

template <typename Real>
std::vector<JudgedWorld> judge_worlds(const Objective<Real>& objective, const Contest& contest,
                                      const std::vector<ContestRow>& rows) {
  std::vector<JudgedWorld> worlds;
  const auto rivals = static_cast<std::ptrdiff_t>(contest.rivals.size());
  for (std::size_t w = 0; w < contest.worlds.size(); ++w) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(w) * rivals;
    JudgedWorld world{.name = contest.worlds[w].name, .rows = {first, first + rivals}};
    const double every = static_cast<double>(contest.every) * 1e-9;
    world.judgements = judge(world.rows, contest.seed, every);
    world.verdict = sum_up(world.name, world.rows, world.judgements, every);
    world.lower_bound_s = lower_bound_seconds(objective, contest, contest.worlds[w]);
    worlds.push_back(std::move(world));
  }
  return worlds;
}

template std::vector<JudgedWorld> judge_worlds(const Objective<float>&, const Contest&,
                                               const std::vector<ContestRow>&);
template std::vector<JudgedWorld> judge_worlds(const Objective<double>&, const Contest&,
                                               const std::vector<ContestRow>&);

Json results_json(const Contest& contest, const std::vector<JudgedWorld>& worlds) {
  Json all{{"version", version()},
           {"goal", to_string(contest.goal)},
           {"engine", to_string(contest.engine)},
           {"seeds", contest.seeds},
           {"tuning", {{"steps", contest.tuning.steps}, {"seeds", contest.tuning.seeds}}},
           {"worlds", Json::array()},
           {"rows", Json::array()}};
  for (const JudgedWorld& world : worlds) {
    all["worlds"].push_back({{"world", world.name},
                             {"winner", world.verdict.winner},
                             {"winner_shown", world.verdict.shown},
                             {"dasgd_loses", world.verdict.dasgd_loses},
                             {"lower_bound_s", number_or_null(world.lower_bound_s)},
                             {"sentence", world.verdict.sentence}});
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      all["rows"].push_back(row_json(world.rows[k], world.judgements[k], contest));
      add_prediction(world.rows[k], all["rows"].back());
    }
  }
  return all;
}

std::string results_text(const Contest& contest, const std::vector<JudgedWorld>& worlds) {
  std::string text = fmt::format("time to {}, medians of {} seeds; the rivals against dasgd\n",
                                 for_people(contest.goal), contest.seeds);
  const std::size_t width = width_of_labels(contest, worlds);
  for (const JudgedWorld& world : worlds) {
    text += fmt::format("\n{}\n  {:{}} {:>9} {:>10} {:>20} {:>5}  {:20} {:>6} {:>6} {:>8} {:>9}\n",
                        world.name, "", width, "eta", "seconds", "ratio", "wins", "verdict", "idle",
                        "waste", "S_avg", "MB busiest");
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      const ContestRow& row = world.rows[k];
      const Judgement& j = world.judgements[k];
      const auto S = median_where_known(row, [](auto& r) { return r.S_avg; });
      text += fmt::format(
          "  {:{}} {:>9.3g} {:>10} {:>20} {:>5}  {:20} {:>5.0f}% {:>6} {:>8} {:>9}\n",
          label_of(row, contest), width, row.eta, time_text(j, row), ratio_text(j),
          fmt::format("{}/{}", j.wins, contest.seeds), is_reference(j) ? "reference" : j.verdict,
          100 * median_over(row, [](auto& r) { return r.idle_share; }),
          median_over(row, [](auto& r) { return r.gradients_wasted; }),
          S ? fmt::format("{:.3g}", *S) : "",
          megabytes(median_over(row, [](auto& r) { return r.bytes_busiest_node; })));
    }
  }
  if (contest.engine != ContestEngine::sim)
    for (const JudgedWorld& world : worlds) text += predictions_text(world, contest);
  text += "\n";
  for (const JudgedWorld& world : worlds) text += world.verdict.sentence + "\n";
  return text;
}

std::string list_of_rivals(const std::vector<RivalKind>& kinds) {
  std::string text;
  for (const RivalKind& kind : kinds) {
    text += fmt::format("{}\n    {}\n    exchanges: {}\n", kind.name, kind.summary, kind.exchanges);
    for (const RivalParameter& p : kind.parameters) {
      const std::string values =
          p.words.empty() ? show_real(p.usual) : fmt::format("{}", fmt::join(p.words, "|"));
      // A text has no number as its default.
      text += fmt::format("    {}{}: {}\n", p.name, p.check ? "" : " = " + values, p.meaning);
    }
    for (const std::string& limit : kind.limits) text += "    proved: " + limit + "\n";
  }
  text += "\nWorlds\n";
  for (const WorldForm& world : world_forms())
    text += fmt::format("    {:18} {}\n", world.form, world.meaning);
  return text;
}

}  // namespace dasgd
