// dasgd reproduce cifar: the paper's Figure 2 (c).
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <numeric>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/config/config.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/lab/experiments/worker_scaling.hpp"
#include "dasgd/models/data_source.hpp"
#include "dasgd/models/network_problem.hpp"
#include "ranks/rank_launch.hpp"
#include "ranks/ranks.hpp"
#include "reproduce/reproduce.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

NetworkDevice device_of(const FigureChoice& choice) {
  return parse_device(choice.device.empty() ? "cpu" : choice.device);
}

// More workers than cores take turns: gradients of 50 ms leave room for all of them.
std::chrono::nanoseconds padding_for(std::size_t workers) {
  const std::size_t turns = (workers + all_cores() - 1) / all_cores();
  return turns > 1 ? turns * std::chrono::milliseconds(50) : std::chrono::nanoseconds(0);
}

bool is_on_cores(const FigureChoice& choice) { return device_of(choice) == NetworkDevice::cpu; }

// Of real gradients; those of a GPU leave the cores to others.
std::chrono::nanoseconds compute_of(const FigureChoice& choice, std::size_t workers) {
  if (!choice.compute.empty()) return time_of(choice.compute);
  return is_on_cores(choice) ? padding_for(workers) : std::chrono::nanoseconds(0);
}

std::size_t most_threads(const ScalingPlan& plan) {
  const auto& workers = plan.thread_workers;
  return workers.empty() ? 1 : *std::ranges::max_element(workers);
}

// The paper's step, target and numbers of workers. It leaves open the batch size and what its
// epsilon of 1 is measured on: here batch 32, and the mean of a worker's last 30 mini-batch losses.
// The short form has a larger step and stops early, where staleness hardly matters yet.
ScalingPlan plan_for(const Experiment& experiment) {
  ScalingPlan plan;
  plan.threads = all_cores();
  plan.cells = experiment.directory + "/cells";
  if (experiment.quick) {
    plan.workers = {1, 2, 5, 10, 25};
    plan.seeds = {1};
    plan.eta = 0.0025;
    plan.target_loss = 2.2;
    plan.gradients = 40'000;
  }
  const FigureChoice& choice = experiment.choice;
  if (!choice.workers.empty()) plan.workers = choice.workers;
  if (choice.seeds) {
    plan.seeds.resize(*choice.seeds);
    std::iota(plan.seeds.begin(), plan.seeds.end(), 1);
  }
  plan.eta = choice.eta.value_or(plan.eta);
  plan.target_loss = choice.target_loss.value_or(plan.target_loss);
  plan.gradients = choice.gradients.value_or(plan.gradients);
  if (!choice.data.empty()) plan.data = choice.data;
  if (!choice.scale.empty()) plan.scale = to_string(parse_scale(choice.scale));
  plan.in_virtual_time = !experiment.on_threads;
  const bool on_cores = is_on_cores(choice);
  // A short run is not padded: then there are as many threads as cores at most.
  const bool padded = !experiment.quick || !choice.compute.empty();
  for (const std::size_t n : plan.workers)
    if (experiment.on_threads || (on_cores && (padded || n <= all_cores())))
      plan.thread_workers.push_back(n);
  plan.compute = compute_of(choice, most_threads(plan));
  plan.compute_adds = choice.compute.starts_with('+');
  return plan;
}

void print_table(const std::vector<ScalingPoint>& points) {
  print_result("{:<8} {:>7} {:>8} {:>19} {:>19} {:>8} {:>7} {:>6} {:>9} {:>9}\n", "time", "workers",
               "reached", "iterations", "seconds", "speed-up", "S_avg", "S_max", "S_hat_avg",
               "S_hat_max");
  for (const ScalingPoint& p : points)
    print_result(
        "{:<8} {:>7} {:>5}/{:<2} {:>10.0f} +- {:<5.0f} {:>10.1f} +- {:<5.1f} {:>7.2f}x {:>7.2f} "
        "{:>6.1f} {:>9.2f} {:>9.1f}\n",
        p.way, p.workers, p.reached, p.runs, p.iterations, p.iterations_deviation, p.seconds,
        p.seconds_deviation, p.speed_up, p.S_avg, p.S_max, p.S_hat_avg, p.S_hat_max);
}

std::shared_ptr<const Samples> images(const ScalingPlan& plan) {
  return image_samples(read_images(locate_data(plan.data)), {.scale = parse_scale(plan.scale)});
}

// The first is made alone and chooses the fast way to compute, before several runs begin. Where all
// runs are there, none is made: cells of a GPU are put together without one.
NetworkOfSeed networks(const std::shared_ptr<const Samples>& samples, NetworkDevice where) {
  const auto make = [samples, where](std::uint64_t seed) {
    NetworkOptions options{.model = "cnn", .device = where, .seed = seed};
    options.evaluate_at_most = 256;  // the experiment needs no accuracy
    return make_network_problem(options, samples);
  };
  return [make, first = std::make_shared<std::once_flag>()](std::uint64_t seed) {
    std::call_once(*first, make, seed);
    return make(seed);
  };
}

// What real gradients take besides their own time, and why.
std::string describe_compute(const FigureChoice& choice, const ScalingPlan& plan,
                             std::size_t sharing) {
  const std::string time = show_duration(plan.compute);
  if (plan.compute.count() == 0)
    return is_on_cores(choice) ? "" : "real: workers share the GPU, and so its time; ";
  if (plan.compute_adds) return fmt::format("real: {} added to every gradient; ", time);
  if (!choice.compute.empty()) return fmt::format("real: padded to {} per gradient; ", time);
  return fmt::format("real: padded to {} per gradient, as up to {} workers share {} cores; ", time,
                     sharing, all_cores());
}

// `sharing`: so many workers share the cores of a machine, at most.
void write_and_print(const Experiment& experiment, const ScalingPlan& plan,
                     const std::vector<ScalingRun>& runs, std::size_t wanted, std::size_t sharing) {
  if (runs.size() < wanted)  // a signal to any rank stops them all
    throw Interrupted(fmt::format("interrupted; {} runs are kept in {}; the same command continues",
                                  runs.size(), plan.cells));
  const auto points = summarise(runs);
  write_files(experiment, to_csv(runs), to_json(points), to_svg(plan.data, points));
  print_table(points);
  const auto is_virtual = [](const ScalingPoint& p) { return p.way == "virtual"; };
  const bool has_virtual = std::ranges::any_of(points, is_virtual),
             all_virtual = std::ranges::all_of(points, is_virtual);
  print_result(
      "the paper's CNN on {}, batch {}, eta {}, target: training loss {} (mean of each worker's "
      "last 30\nmini-batches), {} seed{}; {}{}written to {}.csv, .json, .svg\n",
      plan.data, plan.batch, plan.eta, plan.target_loss, plan.seeds.size(),
      plan.seeds.size() == 1 ? "" : "s", has_virtual ? "virtual: 50 ms per gradient; " : "",
      all_virtual ? "" : describe_compute(experiment.choice, plan, sharing), experiment.stem());
}

std::size_t wanted_on(std::size_t ranks, const ScalingPlan& plan) {
  const auto fewer = std::ranges::count_if(plan.workers, [&](std::size_t n) { return n < ranks; });
  return (static_cast<std::size_t>(fewer) + 1) * plan.seeds.size();
}

}  // namespace

void reproduce_cifar(const Experiment& experiment) {
  SignalStop signals;
  ScalingPlan plan = plan_for(experiment);
  plan.stop = signals.token();
  const NetworkOfSeed network = networks(images(plan), device_of(experiment.choice));
  make_directory(experiment.directory);
  const std::size_t points =
      (plan.in_virtual_time ? plan.workers.size() : 0) + plan.thread_workers.size();
  write_and_print(experiment, plan, run_scaling(network, plan, show_simulations),
                  points * plan.seeds.size(), most_threads(plan));
}

bool reproduce_cifar_on_ranks(const Experiment& experiment) {
  if (!may_become_ranks()) return false;
  SignalStop signals(is_first_process() ? SignalStop::Kind::rank : SignalStop::Kind::quiet_rank);
  Ranks ranks;
  if (!is_known_to_mpi(ranks)) return false;
  ScalingPlan plan = plan_for(experiment);
  plan.stop = signals.token();
  const std::size_t sharing = ranks.ranks_on_host();  // all ranks ask: MPI counts them together
  plan.compute = compute_of(experiment.choice, sharing);
  const bool first = ranks.rank() == 0;
  if (!first) plan.cells.clear();
  std::shared_ptr<const Samples> samples;
  const std::string mistake = mistake_of([&] {
    require_all_processes(ranks);
    if (first) make_directory(experiment.directory);
    samples = images(plan);
  });
  if (!ranks.agree(mistake, fmt::format("{} {} {}", plan.eta, plan.target_loss, plan.seeds.size())))
    return false;
  config::Config config;  // how ranks wait for each other, by default
  config.run.checkpoint.every = {};
  const RankEngine engine{
      .ranks = ranks.size(),
      .first = first,
      .of_rank_zero = [&](bool yes) { return ranks.broadcast(yes ? "yes" : "no") == "yes"; },
      .train =
          [&](const Objective<float>& objective, const TrainOptions& options) {
            return ranks.train_on_first<float>(options.workers, objective, options, config);
          }};
  try {
    const auto runs = run_scaling_on_ranks(networks(samples, device_of(experiment.choice)), plan,
                                           engine, show_simulations);
    if (first) write_and_print(experiment, plan, runs, wanted_on(ranks.size(), plan), sharing);
  } catch (const Interrupted&) {
    throw;  // all ranks have ended their part
  } catch (const std::exception& error) {
    ranks.end_job(error.what());  // the others would wait for this one
  }
  return first;
}

}  // namespace dasgd::app
