#include <fmt/format.h>

#include "dasgd/experiments/slow_worker.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "reproduce.hpp"

namespace dasgd::app {
namespace {

SlowWorkerPlan slow_worker_plan(const Experiment& request) {
  SlowWorkerPlan plan;
  plan.threads = all_cores();
  if (request.quick) {
    plan.factors = {1, 10, 100};
    plan.seeds = {1, 2};
  }
  if (request.what == "quadratic") {
    // Cheap enough for a sweep that shows where the invariance ends.
    plan.etas = {0.002, 0.01, 0.05, 0.1};
  } else if (!request.quick) {
    plan.etas = {0.002, 0.05, 0.2};
  }
  return plan;
}

ProblemOfSeed problem_for(const std::string& what) {
  if (what == "quadratic")
    return [](std::uint64_t seed) -> std::unique_ptr<Objective<double>> {
      return std::make_unique<Quadratic>(Quadratic::random(seed));
    };
  return [](std::uint64_t seed) -> std::unique_ptr<Objective<double>> {
    return std::make_unique<Logistic>(Logistic::random(seed));
  };
}

void print_table(const std::vector<SlowWorkerPoint>& points) {
  fmt::print("{:>6} {:>5} {:>19} {:>19} {:>17} {:>7} {:>6} {:>10} {:>10} {:>10}\n", "eta", "slow",
             "iterations 0", "iterations 1", "virtual s 0", "S_avg", "S_max", "certified",
             "publ. 1", "publ. 2");
  for (const SlowWorkerPoint& p : points)
    fmt::print(
        "{:>6g} {:>5g} {:>11.1f} +- {:<5.1f}{:>11.1f} +- {:<5.1f}{:>10.1f} +- {:<4.1f}{:>7.3f} "
        "{:>6.1f} {:>10.5f} {:>10.5f} {:>10.5f}\n",
        p.eta, p.factor, p.iterations[0].mean, p.iterations[0].deviation, p.iterations[1].mean,
        p.iterations[1].deviation, p.seconds[0].mean, p.seconds[0].deviation, p.S_avg, p.S_max,
        p.certified_eta, p.published_eta_1, p.published_eta_2);
}

}  // namespace

void reproduce_slow_worker(const Experiment& experiment) {
  const SlowWorkerPlan plan = slow_worker_plan(experiment);
  const auto runs = run_slow_worker(problem_for(experiment.what), plan, show_simulations);
  const auto points = summarise(runs);
  const std::string stem = experiment.stem();
  write_file(stem + ".csv", to_csv(runs));
  write_file(stem + ".json", to_json(points));
  write_file(stem + ".svg", to_svg(experiment.what, points));
  print_table(points);
  fmt::print(
      "eps 1e-12, n 2, compute 50 ms, latency 50 us, apply 5 us, {} seeds; limits are means; "
      "written to {}.csv, .json, .svg\n",
      plan.seeds.size(), stem);
}

}  // namespace dasgd::app
