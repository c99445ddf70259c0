#include "dasgd/lab/experiments/topology_staleness.hpp"

#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

#include "dasgd/lab/experiments/parabola.hpp"
#include "dasgd/report/charts/svg_plot.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd {
namespace {

using theory::ExpectedStaleness;

constexpr Nanoseconds compute_time = 1'000'000, short_latency = 10'000, apply = 1;

/// A row of the table: who is connected, how gradients travel, what to expect.
struct Regime {
  std::string name, short_name, graph;
  std::size_t panel;
  RelayMode relay = RelayMode::none;
  Nanoseconds latency = short_latency;
  bool spread = false;
  std::function<ExpectedStaleness(std::size_t n)> exact = nullptr;  // a torus needs its shape
  std::function<ExpectedStaleness(std::size_t n)> published = nullptr;
};

const std::vector<std::string> panel_names{"full graph", "rings", "star and torus"};

std::vector<Regime> regimes() {
  using namespace theory;
  const auto arrival = RelayMode::arrival, application = RelayMode::apply, none = RelayMode::none;
  return {
      {"full, lockstep", "lockstep", "full", 0, none, short_latency, false, one_round_later,
       published_full},
      {"full, zero latency", "zero latency", "full", 0, none, 0, false, full_at_zero_latency,
       published_full},
      {"full, phases spread", "phases spread", "full", 0, none, short_latency, true,
       full_with_spread_phases, published_full},
      {"ring, relay on arrival", "either, on arrival", "ring", 1, arrival, short_latency, false,
       one_round_later, published_ring},
      {"ring, relay on application", "ring, on application", "ring", 1, application, short_latency,
       false, ring_on_application, published_ring},
      {"directed ring, relay on arrival", "", "directed-ring", 1, arrival, short_latency, false,
       one_round_later, published_ring},
      {"directed ring, relay on application", "directed, on application", "directed-ring", 1,
       application, short_latency, false, directed_ring_on_application, published_ring},
      {"star, relay on arrival", "either, on arrival", "star", 2, arrival, short_latency, false,
       one_round_later},
      {"star, relay on application", "star, on application", "star", 2, application, short_latency,
       false, star_on_application},
      {"torus, relay on arrival", "", "torus", 2, arrival, short_latency, false, one_round_later},
      {"torus, relay on application", "torus, on application, all shapes", "torus", 2, application},
  };
}

struct Shape {
  std::string topology;
  std::size_t rows = 0, columns = 0;
};

std::vector<Shape> shapes(const std::string& graph, std::size_t n) {
  if (graph != "torus") return {{graph}};
  std::vector<Shape> result;
  for (std::size_t rows = 2; rows * rows <= n; ++rows)
    if (n % rows == 0)
      result.push_back({fmt::format("torus:{}x{}", rows, n / rows), rows, n / rows});
  return result;
}

ExpectedStaleness exact(const Regime& regime, const Shape& shape, std::size_t n) {
  return regime.exact ? regime.exact(n) : theory::torus_on_application(shape.rows, shape.columns);
}

std::uint64_t exact_sum(const Regime& regime, const std::string& topology, std::size_t n,
                        std::uint64_t B) {
  if (regime.spread) return theory::sum_of_staleness_with_spread_phases(n, B);
  const Graph graph = build_graph(topology, n, 1);
  std::vector<std::vector<std::size_t>> hops;
  for (std::size_t i = 0; i < n; ++i) hops.push_back(hops_from(graph, worker_id(i)));
  return theory::sum_of_staleness(n, B, [&](std::size_t from, std::size_t to) -> std::uint64_t {
    if (regime.relay == RelayMode::apply) return hops[from][to];
    const auto way = static_cast<std::uint64_t>(regime.latency) * hops[from][to];
    return (way + compute_time - 1) / compute_time;
  });
}

TopologyRun run_one(const Regime& regime, const Shape& shape, std::size_t n, std::uint32_t B) {
  VirtualWorld world{.compute = TimeModel::constant(compute_time),
                     .latency = TimeModel::constant(regime.latency),
                     .apply = apply};
  if (regime.spread)
    for (std::size_t i = 0; i < n; ++i)
      world.start.push_back(compute_time * static_cast<Nanoseconds>(i) /
                            static_cast<Nanoseconds>(n));
  const auto result = simulate(Parabola(),
                               {.workers = n,
                                .topology = shape.topology,
                                .relay = regime.relay,
                                .eta = 1e-6,
                                .gradients = {B}},
                               world);
  const auto applications = static_cast<double>(n * B);
  const auto sum = exact_sum(regime, shape.topology, n, B);
  return {regime.name,
          shape.topology,
          n,
          result.summary.staleness.S_avg,
          result.summary.staleness.S_max,
          static_cast<double>(sum) / applications,
          exact(regime, shape, n),
          regime.published ? std::optional(regime.published(n)) : std::nullopt};
}

/// What a picture shows of a run: the average or the maximum.
struct Shown {
  double simulated, exact;
  std::optional<double> published;
};
Shown shown(const TopologyRun& run, bool maximum) {
  const auto published = run.published
                             ? std::optional(maximum ? run.published->S_max : run.published->S_avg)
                             : std::nullopt;
  if (maximum) return {static_cast<double>(run.S_max), run.exact.S_max, published};
  return {run.S_avg, run.exact_S_avg, published};
}

/// Lines first, so that the dots lie on them. A torus has several shapes for one n, hence no line.
PlotPanel panel(const std::vector<TopologyRun>& runs, std::size_t which, bool maximum) {
  const char* const what = maximum ? "S_max" : "S_avg";
  PlotPanel result{fmt::format("{}, {}", what, panel_names[which]),
                   "workers n (dots: simulated, lines: exact)",
                   what,
                   {}};
  std::vector<PlotSeries> dots;
  PlotSeries published{"the paper", {}, {}, {}, PlotSeries::Look::dashed, 6};
  for (std::size_t colour = 0; const Regime& regime : regimes()) {
    if (regime.panel != which || regime.short_name.empty()) continue;
    PlotSeries line{regime.short_name, {}, {}, {}, PlotSeries::Look::line, colour};
    PlotSeries dot{"", {}, {}, {}, PlotSeries::Look::dots, colour++};
    published.x.clear();
    published.y.clear();
    for (const TopologyRun& run : runs) {
      if (run.regime != regime.name) continue;
      const auto [simulated, exact, paper] = shown(run, maximum);
      for (auto* series : {&dot, &line, &published})
        series->x.push_back(static_cast<double>(run.workers));
      dot.y.push_back(simulated);
      line.y.push_back(exact);
      published.y.push_back(paper.value_or(0));
    }
    if (regime.graph == "torus") {
      dot.name = line.name;
    } else {
      result.series.push_back(line);
    }
    dots.push_back(dot);
  }
  if (which < 2) result.series.push_back(published);  // the paper has no star and no torus
  result.series.insert(result.series.end(), dots.begin(), dots.end());
  return result;
}

}  // namespace

std::vector<TopologyRun> run_topologies(const TopologyPlan& plan, const DoneSoFar& progress) {
  struct Task {
    Regime regime;
    Shape shape;
    std::size_t n;
  };
  std::vector<std::size_t> workers = plan.workers;
  for (std::size_t n = 2; plan.workers.empty() && n <= 25; ++n) workers.push_back(n);
  std::vector<Task> tasks;
  for (const Regime& regime : regimes())
    for (const std::size_t n : workers)
      for (const Shape& shape : shapes(regime.graph, n)) tasks.push_back({regime, shape, n});
  std::vector<TopologyRun> runs(tasks.size());
  in_parallel(tasks.size(), plan.threads, progress, [&](std::size_t k) {
    runs[k] = run_one(tasks[k].regime, tasks[k].shape, tasks[k].n, plan.gradients);
  });
  return runs;
}

std::string to_csv(const std::vector<TopologyRun>& runs) {
  std::string text =
      "regime,topology,workers,S_avg,exact_S_avg,exact_S_avg_many,published_S_avg,S_max,exact_S_"
      "max,published_S_max,agrees\n";
  const auto published = [](const TopologyRun& r, double ExpectedStaleness::*value) {
    return r.published ? fmt::format("{}", (*r.published).*value) : std::string();
  };
  for (const TopologyRun& r : runs)
    text +=
        fmt::format("\"{}\",{},{},{},{},{},{},{},{},{},{}\n", r.regime, r.topology, r.workers,
                    r.S_avg, r.exact_S_avg, r.exact.S_avg, published(r, &ExpectedStaleness::S_avg),
                    r.S_max, r.exact.S_max, published(r, &ExpectedStaleness::S_max), r.agrees());
  return text;
}

std::string to_json(const std::vector<TopologyRun>& runs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const TopologyRun& r : runs) {
    all.push_back({{"regime", r.regime},
                   {"topology", r.topology},
                   {"workers", r.workers},
                   {"S_avg", r.S_avg},
                   {"S_max", r.S_max},
                   {"exact",
                    {{"S_avg", r.exact_S_avg},
                     {"S_avg_many_gradients", r.exact.S_avg},
                     {"S_max", r.exact.S_max}}},
                   {"agrees", r.agrees()}});
    if (r.published)
      all.back()["published"] = {{"S_avg", r.published->S_avg}, {"S_max", r.published->S_max}};
  }
  return all.dump(2) + "\n";
}

std::string to_svg(const std::vector<TopologyRun>& runs) {
  std::vector<PlotPanel> panels;
  for (const bool maximum : {false, true})
    for (std::size_t which = 0; which < panel_names.size(); ++which)
      panels.push_back(panel(runs, which, maximum));
  return plot_svg(panels, panel_names.size());
}

}  // namespace dasgd
