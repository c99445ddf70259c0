#include "dasgd/lab/referee/page/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "dasgd/base/units.hpp"
#include "dasgd/lab/referee/page/curves.hpp"
#include "dasgd/lab/referee/page/explain.hpp"
#include "dasgd/lab/referee/page/maps.hpp"
#include "dasgd/lab/referee/page/profile.hpp"
#include "dasgd/lab/referee/row_medians.hpp"

namespace dasgd {
namespace {

constexpr std::size_t most_drawn = 6;

PlotPanel steps_panel(const JudgedWorld& world) {
  PlotPanel panel{.title = world.name,
                  .x_label = "eta, the weight of a gradient in the mean model",
                  .y_label = "seconds to the goal",
                  .log_x = true,
                  .log_y = true};
  for (const std::size_t k : drawn(world)) {
    PlotSeries series{.name = world.rows[k].rival};
    for (const Trial& trial : world.rows[k].trials) {
      series.x.push_back(trial.eta);
      series.y.push_back(trial.median);
    }
    dress(series, k);
    if (!series.x.empty()) panel.series.push_back(series);
  }
  if (!world.lower_bound_s || panel.series.empty()) return panel;
  PlotSeries floor{.name = "lower bound", .look = PlotSeries::Look::dashed, .colour = 7};
  for (const PlotSeries& series : panel.series)
    floor.x.insert(floor.x.end(), series.x.begin(), series.x.end());
  std::sort(floor.x.begin(), floor.x.end());
  floor.y.assign(floor.x.size(), *world.lower_bound_s);
  panel.series.push_back(floor);
  return panel;
}

PlotPanel costs_panel(const JudgedWorld& world) {
  PlotPanel panel{.title = world.name,
                  .x_label = "megabytes of the busiest node",
                  .y_label = "seconds to the goal",
                  .log_x = true,
                  .log_y = true};
  struct Dot {
    double megabytes, seconds;
  };
  std::vector<Dot> dots;
  for (std::size_t k = 0; k < world.rows.size(); ++k) {
    std::vector<double> bytes;
    for (const ContestRun& run : world.rows[k].runs)
      bytes.push_back(static_cast<double>(run.bytes_busiest_node) * 1e-6);
    dots.push_back({median_of(bytes), world.judgements[k].median});
  }
  const auto is_drawn = [&](std::size_t k) {
    return dots[k].megabytes > 0 && std::isfinite(dots[k].seconds);
  };
  const auto named = drawn(world);
  for (const std::size_t k : named)
    if (is_drawn(k)) {
      panel.series.push_back({.name = world.rows[k].rival,
                              .x = {dots[k].megabytes},
                              .y = {dots[k].seconds},
                              .look = PlotSeries::Look::dots});
      dress(panel.series.back(), k);
    }
  PlotSeries others{.name = "others", .look = PlotSeries::Look::dots, .colour = 6};
  for (std::size_t k = 0; k < dots.size(); ++k) {
    if (!is_drawn(k) || std::find(named.begin(), named.end(), k) != named.end()) continue;
    others.x.push_back(dots[k].megabytes);
    others.y.push_back(dots[k].seconds);
  }
  if (!others.x.empty()) panel.series.push_back(others);
  // From the left, whoever is faster than all before.
  PlotSeries front{.name = "Pareto front", .look = PlotSeries::Look::dashed, .colour = 7};
  std::stable_sort(dots.begin(), dots.end(),
                   [](const Dot& a, const Dot& b) { return a.megabytes < b.megabytes; });
  for (const Dot& dot : dots) {
    if (!(dot.megabytes > 0) || (!front.y.empty() && !(dot.seconds < front.y.back()))) continue;
    if (!std::isfinite(dot.seconds)) continue;
    front.x.push_back(dot.megabytes);
    front.y.push_back(dot.seconds);
  }
  if (front.x.size() > 1) panel.series.push_back(front);
  return panel;
}

bool is_empty(const PlotPanel& panel) { return panel.series.empty(); }

// Three digits, and whole numbers as they are.
std::string rounded(double value) {
  const double size = std::abs(value);
  return size >= 1000 && size < 1e9 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

nlohmann::ordered_json table_of(const Contest& contest, const std::vector<JudgedWorld>& worlds) {
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  for (const JudgedWorld& world : worlds)
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      const ContestRow& row = world.rows[k];
      const Judgement& j = world.judgements[k];
      const auto [low, high] = good_range(row.trials);
      const auto shown = [&](auto value) {
        const auto known = median_where_known(row, value);
        return known ? rounded(*known) : std::string();
      };
      const auto median = [&](auto value) { return median_over(row, value); };
      const auto seconds = [&] {
        return std::isfinite(j.median)
                   ? fmt::format("{} ({} to {})", rounded(j.median), rounded(j.interval.low),
                                 rounded(j.interval.high))
                   : ">= " + rounded(median([](auto& r) { return r.time_s; }));
      };
      table.push_back(
          {{"world", row.world},
           {"rival", label_of(row, contest) + (j.reference ? " (reference)" : "")},
           {"verdict", j.reference ? "" : j.verdict},
           {"seconds", seconds()},
           {"ratio_to_dasgd", j.ratio ? fmt::format("{:.2f}", *j.ratio) : ""},
           {"wins", fmt::format("{} of {}", j.wins, row.runs.size())},
           {"eta", rounded(row.eta)},
           {"good_eta", low > 0 ? fmt::format("{} to {}", rounded(low), rounded(high)) : ""},
           {"idle", fmt::format("{:.0f} %", 100 * median([](auto& r) { return r.idle_share; }))},
           {"wasted", rounded(median([](auto& r) { return r.gradients_wasted; }))},
           {"samples/s",
            rounded(median([](auto& r) { return r.samples_per_second(r.gradients_used); }))},
           {"MB_total", rounded(1e-6 * median([](auto& r) { return r.bytes_total; }))},
           {"MB_busiest", rounded(1e-6 * median([](auto& r) { return r.bytes_busiest_node; }))},
           {"consensus", rounded(median([](auto& r) { return r.consensus; }))},
           {"S_avg", shown([](auto& r) { return r.S_avg; })},
           {"S_max", shown([](auto& r) { return r.S_max; })},
           {"accuracy_mean", shown([](auto& r) { return r.accuracy_mean; })},
           {"accuracy_worst", shown([](auto& r) { return r.accuracy_worst; })},
           {"models_kept", rounded(median([](auto& r) { return r.memory_models; }))},
           {"proved", fmt::format("{}", fmt::join(kind_of(row, contest).limits, "; "))}});
    }
  return table;
}

}  // namespace

std::vector<std::size_t> drawn(const JudgedWorld& world) {
  std::vector<std::size_t> order(world.rows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto is_reference = [&](std::size_t k) { return world.judgements[k].reference; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (is_reference(a) != is_reference(b)) return is_reference(a);
    return world.judgements[a].median < world.judgements[b].median;
  });
  order.resize(std::min(order.size(), most_drawn));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return is_reference(a) != is_reference(b) ? is_reference(a) : a < b;
  });
  return order;
}

std::vector<ComparePicture> pictures_of(const Contest& contest,
                                        const std::vector<JudgedWorld>& worlds) {
  std::vector<ComparePicture> pictures;
  pictures.push_back({"map",
                      "Who wins where",
                      "Below 1 it is faster than DASGD. Blue: shown to be faster; orange: shown to "
                      "be slower; grey: no difference shown. Bold: the fastest of its world.",
                      {},
                      {[=](double width) { return ratio_map(worlds, width); }}});
  if (winner_map(worlds))
    pictures.push_back({"winners",
                        "Who wins over stragglers and latency",
                        "Grey where the fastest is not shown to be faster than the next.",
                        {},
                        {[=](double width) { return *winner_map(worlds, width); }}});
  for (std::size_t w = 0; w < worlds.size(); ++w)
    for (ComparePicture& picture : curves_of(contest, worlds[w], w))
      pictures.push_back(std::move(picture));
  ComparePicture steps{
      "eta",
      "Time over the step size",
      "The trials of tuning; a step that does not reach the goal in its time leaves a gap. A wide "
      "valley is robust. For a goal on the "
      "norm of the gradient the dashed line is what the hardest function with this L and this "
      "noise costs any method, up to a constant (Tyurin and Richtarik 2024); an easier one, like "
      "a convex one, may take less.",
      {}};
  ComparePicture costs{"costs",
                       "Time and traffic",
                       "Left and down is better: no method is both faster and lighter on traffic "
                       "than those on the dashed line.",
                       {}};
  for (const JudgedWorld& world : worlds) {
    if (PlotPanel panel = steps_panel(world); !is_empty(panel)) steps.panels.push_back(panel);
    if (PlotPanel panel = costs_panel(world); !is_empty(panel)) costs.panels.push_back(panel);
  }
  if (auto profile = profile_panel(worlds))
    pictures.push_back({"profile",
                        "Performance profile",
                        "The share of all runs that reach the goal within a multiple of the "
                        "fastest median of their world. Up and left is better; a method that ends "
                        "below 1 does not always reach the goal.",
                        {std::move(*profile)}});
  for (const ComparePicture& picture : {steps, costs})
    if (!picture.panels.empty()) pictures.push_back(picture);
  return pictures;
}

std::vector<std::pair<std::string, std::string>> files_of(const ComparePicture& picture) {
  if (picture.drawings.empty()) return {{picture.file + ".svg", plot_svg(picture.panels, 3)}};
  if (picture.drawings.size() == 1) return {{picture.file + ".svg", picture.drawings.front()(0)}};
  std::vector<std::pair<std::string, std::string>> files;
  for (const Drawing& draw : picture.drawings)
    files.emplace_back(fmt::format("{}_{}.svg", picture.file, files.size() + 1), draw(0));
  return files;
}

report::FiguresPage compare_page(const Contest& contest, const std::vector<JudgedWorld>& worlds,
                                 const std::vector<ComparePicture>& pictures,
                                 const std::vector<std::pair<std::string, std::string>>& facts) {
  report::FiguresPage page{.title = "Who wins where",
                           .subtitle = fmt::format("{} workers · time to {} · {} seeds each",
                                                   contest.worlds.front().options.workers,
                                                   for_people(contest.goal), contest.seeds),
                           .figures = {},
                           .table = table_of(contest, worlds),
                           .facts = facts};
  for (const JudgedWorld& world : worlds) page.findings.push_back(world.verdict.sentence);
  for (const auto& more : {unshown_differences(contest, worlds), doubts_of(contest, worlds)})
    page.findings.insert(page.findings.end(), more.begin(), more.end());
  for (const ComparePicture& picture : pictures) {
    report::Figure figure{picture.title, picture.caption, {}};
    for (const Drawing& draw : picture.drawings) figure.panels.push_back(draw(0));
    const bool logarithmic = std::any_of(picture.panels.begin(), picture.panels.end(),
                                         [](const PlotPanel& p) { return p.log_x || p.log_y; });
    for (PlotPanel panel : picture.panels) {
      figure.panels.push_back(plot_svg({panel}));
      panel.log_x = panel.log_y = false;
      if (logarithmic) figure.linear.push_back(plot_svg({panel}));
    }
    page.figures.push_back(std::move(figure));
  }
  return page;
}

}  // namespace dasgd
