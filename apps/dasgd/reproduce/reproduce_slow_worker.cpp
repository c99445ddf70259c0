#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/config/config.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/lab/experiments/slow_worker.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/runtime/train.hpp"
#include "ranks/rank_launch.hpp"
#include "ranks/ranks.hpp"
#include "reproduce/reproduce.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

// |grad f| of logistic regression is at most the mean norm of its rows.
std::optional<double> gradient_bound(const Objective<double>& f) {
  const auto* const logistic = dynamic_cast<const Logistic*>(&f);
  if (!logistic) return std::nullopt;
  const LabelledRows& rows = logistic->data();
  double sum = 0;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    double square = 0;
    for (std::size_t k = rows.row_start[r]; k < rows.row_start[r + 1]; ++k)
      square += rows.values[k] * rows.values[k];
    sum += std::sqrt(square);
  }
  return sum / static_cast<double>(rows.rows());
}

void set_seeds(SlowWorkerPlan& plan, const FigureChoice& choice) {
  if (!choice.seeds) return;
  plan.seeds.resize(*choice.seeds);
  std::iota(plan.seeds.begin(), plan.seeds.end(), 1);
}

SlowWorkerPlan slow_worker_plan(const Experiment& request) {
  SlowWorkerPlan plan;
  plan.threads = all_cores();
  if (request.quick) {
    plan.factors = {0, 1, 10, 100};
    plan.seeds = {1, 2};
  }
  if (request.what == "quadratic") {
    // Cheap enough for a sweep that shows where the invariance ends.
    plan.etas = {0.002, 0.01, 0.05, 0.1};
  } else if (!request.quick) {
    plan.etas = {0.002, 0.05, 0.2};
  }
  const FigureChoice& choice = request.choice;
  if (!choice.slow.empty()) plan.factors = choice.slow;
  if (choice.eta) plan.etas = {*choice.eta};
  set_seeds(plan, choice);
  plan.target_error = choice.target_error.value_or(plan.target_error);
  plan.gradient_bound = gradient_bound;
  return plan;
}

// The paper's own setting takes hours in real time: 50 ms for each of 13,000 gradients and more.
// The short form has shorter gradients and, of logistic regression, an earlier end.
SlowWorkerPlan real_plan_for(const Experiment& request) {
  SlowWorkerPlan plan = slow_worker_plan(request);
  const FigureChoice& choice = request.choice;
  plan.etas = {choice.eta.value_or(0.002)};
  plan.cells = request.directory + "/cells";
  if (request.quick) {
    plan.seeds = {1};
    set_seeds(plan, choice);
    plan.compute = std::chrono::microseconds(500);
    if (request.what == "logistic") plan.target_error = choice.target_error.value_or(0.05);
  }
  if (!choice.compute.empty()) plan.compute = time_of(choice.compute);
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

std::string show(const std::vector<report::MeanOf>& by_worker, std::size_t worker) {
  if (worker >= by_worker.size()) return "-";
  return fmt::format("{:.1f} +- {:.1f}", by_worker[worker].mean, by_worker[worker].deviation);
}

void print_table(const std::vector<SlowWorkerPoint>& points) {
  print_result("{:>6} {:>5} {:>19} {:>19} {:>17} {:>7} {:>9} {:>10} {:>10} {:>10}\n", "eta", "x",
               "iterations 0", "iterations 1",
               points.front().way == "virtual" ? "virtual s 0" : "seconds 0", "S_avg", "S_hat_max",
               "certified", "publ. 1", "publ. 2");
  for (const SlowWorkerPoint& p : points)
    print_result(
        "{:>6g} {:>5g} {:>19} {:>19} {:>17} {:>7.3f} {:>9.1f} {:>10.5f} {:>10.5f} {:>10.5f}\n",
        p.eta, p.factor, show(p.iterations, 0), show(p.iterations, 1), show(p.seconds, 0), p.S_avg,
        p.S_hat_max, p.certified_eta, p.published_eta_1, p.published_eta_2);
}

void write_and_print(const Experiment& experiment, const SlowWorkerPlan& plan,
                     const std::vector<SlowWorkerRun>& runs, const std::string& pace) {
  const auto points = summarise(runs);
  write_files(experiment, to_csv(runs), to_json(points), to_svg(experiment.what, points));
  print_table(points);
  print_result("{}\n", expected_and_measured(points));
  print_result(
      "\nT until the mean of |grad f|^2 was what it was at the end, and when Theorem 1 promises "
      "it:\n"
      "{}(1st form: that mean over its published bound, where gradients are bounded)\n\n",
      predicted_and_measured(points));
  print_result(
      "target error {:g}, one worker of two x times slower, {}, {} seed{}; limits are means; "
      "written to {}.csv, .json, .svg\n",
      plan.target_error, pace, plan.seeds.size(), plan.seeds.size() == 1 ? "" : "s",
      experiment.stem());
}

void conclude(const Experiment& experiment, const SlowWorkerPlan& plan, const std::string& way,
              const std::vector<SlowWorkerRun>& runs) {
  const std::size_t wanted = plan.etas.size() * plan.factors.size() * plan.seeds.size();
  if (runs.size() < wanted)
    throw Interrupted(
        fmt::format("interrupted; {} of {} runs are kept in {}; the same command continues",
                    runs.size(), wanted, plan.cells));
  write_and_print(experiment, plan, runs,
                  fmt::format("{}, {} added to every gradient", way, show_duration(plan.compute)));
}

}  // namespace

void reproduce_slow_worker(const Experiment& experiment) {
  if (!experiment.on_threads) {
    const SlowWorkerPlan plan = slow_worker_plan(experiment);
    make_directory(experiment.directory);
    const auto runs = run_slow_worker(problem_for(experiment.what), plan, show_simulations);
    return write_and_print(experiment, plan, runs, "compute 50 ms, latency 50 us, apply 5 us");
  }
  const SignalStop signals;
  SlowWorkerPlan plan = real_plan_for(experiment);
  plan.stop = signals.token();
  make_directory(experiment.directory);
  const RealEngine engine{
      .way = "threads",
      .of_rank_zero = [](bool yes) { return yes; },
      .train = [](const Objective<double>& f, const TrainOptions& options)
          -> std::optional<TrainResult<double>> { return run_training<double>(f, options); }};
  conclude(experiment, plan, "real threads",
           run_slow_worker_for_real(problem_for(experiment.what), plan, engine, show_simulations));
}

bool reproduce_slow_worker_on_ranks(const Experiment& experiment) {
  if (!may_become_ranks()) return false;
  SignalStop signals(is_first_process() ? SignalStop::Kind::rank : SignalStop::Kind::quiet_rank);
  Ranks ranks;
  if (!is_known_to_mpi(ranks)) return false;
  SlowWorkerPlan plan = real_plan_for(experiment);
  plan.stop = signals.token();
  const bool first = ranks.rank() == 0;
  const std::string mistake = mistake_of([&] {
    require_all_processes(ranks);
    if (ranks.size() != 2)
      throw InputError(
          fmt::format("the experiment has two workers: start it on 2 ranks, not {}", ranks.size()));
    if (first) make_directory(experiment.directory);
  });
  if (!ranks.agree(mistake, experiment.what)) return false;
  config::Config config;  // how ranks wait for each other, by default
  config.run.checkpoint.every = {};
  const RealEngine engine{
      .way = "mpi",
      .first = first,
      .of_rank_zero = [&](bool yes) { return ranks.broadcast(yes ? "yes" : "no") == "yes"; },
      .train = [&](const Objective<double>& f,
                   const TrainOptions& options) -> std::optional<TrainResult<double>> {
        if (options.workers > 1) return ranks.train<double>(f, options, config);
        if (!first) return std::nullopt;
        return run_training<double>(f, options);
      }};
  try {
    const auto runs =
        run_slow_worker_for_real(problem_for(experiment.what), plan, engine, show_simulations);
    if (first) conclude(experiment, plan, "real MPI ranks", runs);
  } catch (const Interrupted&) {
    throw;  // both ranks have ended their part
  } catch (const std::exception& error) {
    ranks.end_job(error.what());  // the other would wait for this one
  }
  return first;
}

}  // namespace dasgd::app
