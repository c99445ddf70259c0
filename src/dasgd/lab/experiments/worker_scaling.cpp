#include "dasgd/lab/experiments/worker_scaling.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "dasgd/base/parallel.hpp"
#include "dasgd/lab/experiments/cell_file.hpp"
#include "dasgd/record/json_number.hpp"
#include "dasgd/report/charts/svg_plot.hpp"
#include "dasgd/report/tables/sweep_runs.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

using Json = nlohmann::ordered_json;

/// Finished runs on disk, so that an interrupted experiment goes on where it was.
class Cells {
 public:
  explicit Cells(const ScalingPlan& plan) : plan_(plan) {
    if (!plan.cells.empty()) std::filesystem::create_directories(plan.cells);
  }

  std::optional<ScalingRun> find(const ScalingRun& wanted) const {
    if (plan_.cells.empty()) return std::nullopt;
    const Json cell = find_cell(stem(wanted), setting_of(wanted));
    if (cell.is_null()) return std::nullopt;
    ScalingRun run = wanted;
    run.reached = cell.at("reached");
    run.iterations = cell.at("iterations");
    run.seconds = cell.at("seconds");
    run.S_avg = cell.at("S_avg");
    run.S_max = cell.at("S_max");
    run.S_hat_avg = cell.value("S_hat_avg", run.S_avg);  // delivery is causal in older cells
    run.S_hat_max = cell.value("S_hat_max", run.S_max);
    return run;
  }

  void keep(const ScalingRun& run) const {
    if (plan_.cells.empty()) return;
    keep_cell(stem(run), {{"setting", setting_of(run)},
                          {"reached", run.reached},
                          {"iterations", run.iterations},
                          {"seconds", run.seconds},
                          {"S_avg", run.S_avg},
                          {"S_max", run.S_max},
                          {"S_hat_avg", run.S_hat_avg},
                          {"S_hat_max", run.S_hat_max}});
  }

 private:
  // A run with another setting is another run.
  std::string setting() const {
    return fmt::format("eta {} batch {} target {} gradients {} spread{}{}", plan_.eta, plan_.batch,
                       plan_.target_loss, plan_.gradients,
                       plan_.scale == "standard" ? "" : " scale " + plan_.scale,
                       plan_.data == "cifar10" ? "" : " data " + plan_.data);
  }
  std::string setting_of(const ScalingRun& run) const {
    const bool longer = run.way != "virtual" && plan_.compute.count() > 0;
    return setting() + (longer
                            ? fmt::format(" {}{} ns", plan_.compute_adds ? "compute +" : "padded ",
                                          plan_.compute.count())
                            : "");
  }
  std::string stem(const ScalingRun& run) const {
    return fmt::format("{}/{}-{}-workers-seed-{}", plan_.cells, run.way, run.workers, run.seed);
  }
  const ScalingPlan& plan_;
};

// 50 ms per gradient, 50 us per link, 5 us per application. Workers begin spread over the first
// gradient: on real machines nobody keeps step, and steps that coincide would add half again to the
// staleness.
VirtualWorld world_of(std::size_t workers) {
  constexpr Nanoseconds each = 50'000'000;
  VirtualWorld world{.compute = TimeModel::constant(each)};
  for (std::size_t i = 0; i < workers; ++i)
    world.start.push_back(each * static_cast<Nanoseconds>(i) / static_cast<Nanoseconds>(workers));
  return world;
}

TrainOptions options_of(const ScalingPlan& plan, const ScalingRun& run) {
  TrainOptions options{.workers = run.workers,
                       .eta = plan.eta,
                       .batch = plan.batch,
                       .target_loss = plan.target_loss,
                       .seed = run.seed};
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  const std::uint64_t each = plan.gradients == 0 ? most : plan.gradients / run.workers;
  options.gradients = {static_cast<std::uint32_t>(std::min(each, most))};
  options.stop = plan.stop;
  options.look_ahead = LookAhead{};  // the paper's algorithm
  if (run.way != "virtual") options.compute = plan.compute;
  options.compute_adds = plan.compute_adds;
  return options;
}

// Nothing if it was interrupted.
std::optional<ScalingRun> figures_of(const TrainResult<float>& result, ScalingRun run) {
  const RunSummary& summary = result.summary;
  if (summary.stop_reason == StopReason::interrupted) return std::nullopt;
  if (result.failure && summary.stop_reason != StopReason::diverged)
    std::rethrow_exception(result.failure);
  run.reached = summary.stop_reason == StopReason::target;
  for (const std::uint64_t t : summary.iterations)
    run.iterations += static_cast<double>(t) / static_cast<double>(run.workers);
  run.seconds =
      static_cast<double>(*std::max_element(summary.time.begin(), summary.time.end())) * 1e-9;
  run.S_avg = summary.staleness.S_avg;
  run.S_max = static_cast<double>(summary.staleness.S_max);
  run.S_hat_avg = summary.staleness.S_hat_avg;
  run.S_hat_max = static_cast<double>(summary.staleness.S_hat_max);
  return run;
}

std::optional<ScalingRun> run_one(const NetworkOfSeed& network, const ScalingPlan& plan,
                                  const ScalingRun& run) {
  const auto objective = network(run.seed);
  const TrainOptions options = options_of(plan, run);
  return figures_of(run.way == "virtual"
                        ? run_simulation<float>(*objective, options, world_of(run.workers))
                        : run_training<float>(*objective, options),
                    run);
}

std::vector<ScalingRun> all_of(const std::string& way, const std::vector<std::size_t>& workers,
                               const std::vector<std::uint64_t>& seeds) {
  std::vector<ScalingRun> runs;
  for (const std::size_t n : workers)
    for (const std::uint64_t seed : seeds) runs.push_back({.way = way, .workers = n, .seed = seed});
  return runs;
}

// Of the points of another way those that are complete.
std::vector<ScalingRun> kept_of(const std::string& way, const std::vector<std::size_t>& workers,
                                const ScalingPlan& plan, const Cells& cells) {
  std::vector<ScalingRun> runs;
  for (const std::size_t n : workers) {
    std::vector<ScalingRun> point;
    for (const ScalingRun& wanted : all_of(way, {n}, plan.seeds))
      if (auto found = cells.find(wanted)) point.push_back(*std::move(found));
    if (point.size() == plan.seeds.size()) runs.insert(runs.end(), point.begin(), point.end());
  }
  return runs;
}

// Padding lets the largest run keep its pace: smaller ones side by side load the machine no more.
// Without it they would slow each other down.
std::size_t room_for_threads(const ScalingPlan& plan) {
  const bool padded = plan.compute.count() > 0 && !plan.compute_adds;
  return padded && !plan.thread_workers.empty() ? *std::ranges::max_element(plan.thread_workers)
                                                : 1;
}

report::MeanOf over(const std::vector<ScalingRun>& runs, double ScalingRun::*figure) {
  std::vector<double> values;
  for (const ScalingRun& run : runs) values.push_back(run.*figure);
  return report::mean_of(values);
}

}  // namespace

std::vector<ScalingRun> run_scaling(const NetworkOfSeed& network, const ScalingPlan& plan,
                                    const DoneSoFar& progress) {
  const Cells cells(plan);
  const auto simulations = plan.in_virtual_time ? all_of("virtual", plan.workers, plan.seeds)
                                                : std::vector<ScalingRun>();
  const auto on_threads = all_of("threads", plan.thread_workers, plan.seeds);
  const std::size_t total = simulations.size() + on_threads.size();
  std::vector<std::optional<ScalingRun>> finished(total);
  std::atomic<std::size_t> done{0};
  const auto run = [&](const ScalingRun& wanted, std::optional<ScalingRun>& to) {
    to = cells.find(wanted);
    if (!to && !plan.stop.stop_requested()) {
      to = run_one(network, plan, wanted);
      if (to) cells.keep(*to);
    }
    if (to) progress(++done, total);
  };
  // From the back: many workers need most gradients, and nobody should wait for them alone.
  in_parallel(simulations.size(), plan.threads, [&](std::size_t k) {
    const std::size_t i = simulations.size() - 1 - k;
    run(simulations[i], finished[i]);
  });
  std::vector<std::size_t> workers;
  for (const ScalingRun& one : on_threads) workers.push_back(one.workers);
  in_parallel_within(room_for_threads(plan), workers,
                     [&](std::size_t k) { run(on_threads[k], finished[simulations.size() + k]); });
  std::vector<ScalingRun> runs;
  for (auto& one : finished)
    if (one) runs.push_back(std::move(*one));
  if (runs.size() < total) return runs;
  if (!plan.in_virtual_time) {
    const auto kept = kept_of("virtual", plan.workers, plan, cells);
    runs.insert(runs.begin(), kept.begin(), kept.end());
  }
  for (ScalingRun& kept : kept_of("mpi", plan.workers, plan, cells))
    runs.push_back(std::move(kept));
  return runs;
}

std::vector<ScalingRun> run_scaling_on_ranks(const NetworkOfSeed& network, const ScalingPlan& plan,
                                             const RankEngine& engine, const DoneSoFar& progress) {
  const Cells cells(plan);
  std::vector<std::size_t> numbers;
  for (const std::size_t n : plan.workers)
    if (n < engine.ranks) numbers.push_back(n);
  numbers.push_back(engine.ranks);
  const auto wanted = all_of("mpi", numbers, plan.seeds);
  std::vector<ScalingRun> runs;
  bool interrupted = false;
  for (const ScalingRun& run : wanted) {
    auto finished = cells.find(run);
    if (engine.of_rank_zero(!finished && !interrupted && !plan.stop.stop_requested())) {
      const auto objective = network(run.seed);
      const TrainOptions options = options_of(plan, run);
      std::optional<TrainResult<float>> result;
      if (run.workers > 1)
        result = engine.train(*objective, options);
      else if (engine.first)
        result = run_training<float>(*objective, options);
      if (result) finished = figures_of(*result, run);
      interrupted = !finished;
      if (finished) cells.keep(*finished);
    }
    if (!finished) continue;
    runs.push_back(*finished);
    progress(runs.size(), wanted.size());
  }
  if (!engine.first || runs.size() < wanted.size()) return runs;
  std::vector<ScalingRun> all = kept_of("virtual", plan.workers, plan, cells);
  for (ScalingRun& run : kept_of("threads", plan.workers, plan, cells))
    all.push_back(std::move(run));
  all.insert(all.end(), runs.begin(), runs.end());
  return all;
}

std::vector<ScalingPoint> summarise(const std::vector<ScalingRun>& runs) {
  std::vector<ScalingPoint> points;
  for (std::size_t first = 0; first < runs.size();) {
    ScalingPoint point{.way = runs[first].way, .workers = runs[first].workers};
    std::vector<ScalingRun> at_target;
    for (; first < runs.size() && runs[first].way == point.way &&
           runs[first].workers == point.workers;
         ++first) {
      ++point.runs;
      if (runs[first].reached) at_target.push_back(runs[first]);
    }
    point.reached = at_target.size();
    if (!at_target.empty()) {
      const auto iterations = over(at_target, &ScalingRun::iterations);
      const auto seconds = over(at_target, &ScalingRun::seconds);
      point.iterations = iterations.mean;
      point.iterations_deviation = iterations.deviation;
      point.seconds = seconds.mean;
      point.seconds_deviation = seconds.deviation;
      point.S_avg = over(at_target, &ScalingRun::S_avg).mean;
      point.S_max = over(at_target, &ScalingRun::S_max).mean;
      point.S_hat_avg = over(at_target, &ScalingRun::S_hat_avg).mean;
      point.S_hat_max = over(at_target, &ScalingRun::S_hat_max).mean;
    }
    points.push_back(point);
  }
  for (ScalingPoint& point : points) {
    const auto alone = std::find_if(points.begin(), points.end(), [&](const ScalingPoint& p) {
      return p.way == point.way && p.workers == 1;
    });
    if (alone != points.end() && point.seconds > 0) point.speed_up = alone->seconds / point.seconds;
  }
  return points;
}

std::string to_csv(const std::vector<ScalingRun>& runs) {
  std::string text =
      "way,workers,seed,reached,iterations,seconds,S_avg,S_max,S_hat_avg,S_hat_max\n";
  for (const ScalingRun& r : runs)
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{}\n", r.way, r.workers, r.seed, r.reached ? 1 : 0,
                    r.iterations, r.seconds, r.S_avg, r.S_max, r.S_hat_avg, r.S_hat_max);
  return text;
}

std::string to_json(const std::vector<ScalingPoint>& points) {
  Json all = Json::array();
  for (const ScalingPoint& p : points) {
    const auto figure = [&](double value) { return p.reached > 0 ? json_number(value) : Json(); };
    all.push_back({{"way", p.way},
                   {"workers", p.workers},
                   {"runs", p.runs},
                   {"reached", p.reached},
                   {"iterations", figure(p.iterations)},
                   {"iterations_deviation", figure(p.iterations_deviation)},
                   {"seconds", figure(p.seconds)},
                   {"seconds_deviation", figure(p.seconds_deviation)},
                   {"speed_up", figure(p.speed_up)},
                   {"S_avg", figure(p.S_avg)},
                   {"S_max", figure(p.S_max)},
                   {"S_hat_avg", figure(p.S_hat_avg)},
                   {"S_hat_max", figure(p.S_hat_max)}});
  }
  return all.dump(2) + "\n";
}

std::string to_svg(const std::string& title, const std::vector<ScalingPoint>& points) {
  PlotPanel iterations{
      title + ": iterations to the target", "workers", "iterations", {}, false, false};
  PlotPanel seconds{title + ": time to the target", "workers", "seconds", {}, false, false};
  PlotPanel speed_up{
      title + ": speed-up over one worker", "workers", "times faster", {}, false, false};
  for (const auto& [way, name] : {std::pair<std::string, std::string>{"virtual", "virtual time"},
                                  {"threads", "threads, real time"},
                                  {"mpi", "MPI ranks, real time"}}) {
    PlotSeries i{name, {}, {}, {}}, s = i, u = i;
    for (const ScalingPoint& p : points) {
      if (p.way != way || p.reached == 0) continue;
      for (PlotSeries* const series : {&i, &s, &u})
        series->x.push_back(static_cast<double>(p.workers));
      i.y.push_back(p.iterations);
      i.deviation.push_back(p.iterations_deviation);
      s.y.push_back(p.seconds);
      s.deviation.push_back(p.seconds_deviation);
      u.y.push_back(p.speed_up);
    }
    if (i.x.empty()) continue;
    iterations.series.push_back(i);
    seconds.series.push_back(s);
    speed_up.series.push_back(u);
  }
  return iterations.series.empty() ? "" : plot_svg({iterations, seconds, speed_up});
}

}  // namespace dasgd
