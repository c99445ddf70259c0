// dasgd reproduce cifar: the paper's figure (c).
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "commands.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/cifar10.hpp"
#include "dasgd/data/image_samples.hpp"
#include "dasgd/experiments/worker_scaling.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "network_problem.hpp"
#include "signals.hpp"

namespace dasgd::app {
namespace {

// What the paper leaves open: the batch size and what its epsilon of 1 is measured on. Here batch
// 32, and the mean of a worker's last 30 mini-batch losses; the short form stops earlier.
ScalingPlan plan_for(const ReproduceRequest& request, const std::string& directory) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  ScalingPlan plan;
  plan.threads = cores;
  plan.cells = directory + "/cells";
  if (request.quick) {
    plan.virtual_workers = {1, 2, 5, 10, 25};
    plan.seeds = {1};
    plan.target_loss = 1.5;
  }
  for (const std::size_t n : plan.virtual_workers)
    if (n <= cores) plan.thread_workers.push_back(n);
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

int reproduce_cifar(const ReproduceRequest& request, const std::string& directory) {
  SignalStop signals;
  ScalingPlan plan = plan_for(request, directory);
  plan.stop = signals.token();
  const auto samples =
      std::make_shared<ImageSamples>(read_cifar10_directory(locate_data("cifar10")));
  const auto network = [&](std::uint64_t seed) {
    NetworkOptions options{.model = "cnn", .seed = seed};
    options.evaluate_at_most = 256;  // the experiment needs no accuracy
    return make_network_problem(options, samples);
  };
  network(1);  // chooses the fast way to compute before several runs begin
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto runs = run_scaling(network, plan, [&](std::size_t done, std::size_t total) {
    if (terminal) fmt::print(stderr, "\r\033[K{} of {} runs", done, total);
  });
  if (terminal) fmt::print(stderr, "\r\033[K");
  if (plan.stop.stop_requested()) {
    fmt::print(stderr, "dasgd: interrupted; {} runs are kept in {}, the same command goes on\n",
               runs.size(), plan.cells);
    return interrupted;
  }
  const auto points = summarise(runs);
  const std::string stem = directory + "/cifar";
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
  return done;
}

}  // namespace dasgd::app
