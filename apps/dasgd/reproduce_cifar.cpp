// dasgd reproduce cifar: the paper's figure (c).
#include <fmt/format.h>
#include <memory>
#include <numeric>

#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/cifar10.hpp"
#include "dasgd/data/image_samples.hpp"
#include "dasgd/experiments/worker_scaling.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "network_problem.hpp"
#include "reproduce.hpp"
#include "signals.hpp"

namespace dasgd::app {
namespace {

// What the paper leaves open: the batch size and what its epsilon of 1 is measured on. Here batch
// 32, and the mean of a worker's last 30 mini-batch losses. The step must be one for all numbers of
// workers: 0.02 is the better one for a single worker and diverges with 25. The short form stops
// early, with a step so small that staleness hardly matters yet.
ScalingPlan plan_for(const Experiment& experiment) {
  ScalingPlan plan;
  plan.threads = all_cores();
  plan.cells = experiment.directory + "/cells";
  if (experiment.quick) {
    plan.virtual_workers = {1, 2, 5, 10, 25};
    plan.seeds = {1};
    plan.eta = 0.0015;
    plan.target_loss = 2.1;
  }
  const ScalingChoice& choice = experiment.scaling;
  if (!choice.workers.empty()) plan.virtual_workers = choice.workers;
  if (choice.seeds) {
    plan.seeds.resize(*choice.seeds);
    std::iota(plan.seeds.begin(), plan.seeds.end(), 1);
  }
  plan.eta = choice.eta.value_or(plan.eta);
  plan.target_loss = choice.target_loss.value_or(plan.target_loss);
  for (const std::size_t n : plan.virtual_workers)
    if (n <= all_cores()) plan.thread_workers.push_back(n);
  return plan;
}

void print_table(const std::vector<ScalingPoint>& points) {
  fmt::print("{:<8} {:>7} {:>8} {:>19} {:>19} {:>8} {:>7} {:>6}\n", "time", "workers", "reached",
             "iterations", "seconds", "speed-up", "S_avg", "S_max");
  for (const ScalingPoint& p : points)
    fmt::print(
        "{:<8} {:>7} {:>5}/{:<2} {:>10.0f} +- {:<5.0f} {:>10.1f} +- {:<5.1f} {:>7.2f}x {:>7.2f} "
        "{:>6.1f}\n",
        p.way, p.workers, p.reached, p.runs, p.iterations, p.iterations_deviation, p.seconds,
        p.seconds_deviation, p.speed_up, p.S_avg, p.S_max);
}

}  // namespace

void reproduce_cifar(const Experiment& experiment) {
  SignalStop signals;
  ScalingPlan plan = plan_for(experiment);
  plan.stop = signals.token();
  const auto samples =
      std::make_shared<ImageSamples>(read_cifar10_directory(locate_data("cifar10")));
  const auto network = [&](std::uint64_t seed) {
    NetworkOptions options{.model = "cnn", .seed = seed};
    options.evaluate_at_most = 256;  // the experiment needs no accuracy
    return make_network_problem(options, samples);
  };
  network(1);  // chooses the fast way to compute before several runs begin
  const auto runs = run_scaling(network, plan, show_simulations);
  if (plan.stop.stop_requested())
    throw Interrupted(fmt::format("interrupted; {} runs are kept in {}, the same command goes on",
                                  runs.size(), plan.cells));
  const auto points = summarise(runs);
  const std::string stem = experiment.stem();
  write_file(stem + ".csv", to_csv(runs));
  write_file(stem + ".json", to_json(points));
  write_file(stem + ".svg", to_svg("cifar", points));
  print_table(points);
  fmt::print(
      "CNN of 122,570 parameters, batch {}, eta {}, target: training loss {} (mean of each "
      "worker's "
      "last 30\nmini-batches), {} seeds; virtual: 50 ms per gradient; written to {}.csv, .json, "
      ".svg\n",
      plan.batch, plan.eta, plan.target_loss, plan.seeds.size(), stem);
}

}  // namespace dasgd::app
