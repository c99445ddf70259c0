// The paper's Figure 2 (c): iterations and time to a target loss as workers are added (section 5).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/experiments/progress.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"

namespace dasgd {

struct ScalingPlan {
  std::vector<std::size_t> workers{1, 2, 5, 10, 15, 20, 25};
  bool in_virtual_time = true;
  std::vector<std::size_t> thread_workers;  ///< those of them with real threads, too
  std::vector<std::uint64_t> seeds{1, 2, 3, 4};
  double eta = 1e-4;
  std::size_t batch = 32;
  double target_loss = 1.0;  ///< mean of a worker's last 30 mini-batches, at every worker
  /// Of all workers together: a run that needs more gives up. 0: none does.
  std::uint64_t gradients = 0;
  std::string data = "cifar10", scale = "standard";  ///< runs with others are other runs
  /// Of real runs, all alike: what a gradient takes at least, where more workers share the cores
  /// than there are; then workers keep the same pace whatever their number. 0: nothing.
  std::chrono::nanoseconds compute{0};
  bool compute_adds = false;  ///< adds it to the gradient's own time instead, as the paper does
  unsigned threads = 2;       ///< simulations at a time
  std::string cells;          ///< directory that keeps finished runs; empty: none
  std::stop_token stop;
};

/// One run.
struct ScalingRun {
  std::string way;  ///< "virtual" (50 ms per gradient, latency 50 us, apply 5 us), "threads", "mpi"
  std::size_t workers = 0;
  std::uint64_t seed = 0;
  bool reached = false;
  double iterations = 0;  ///< at the target, mean over workers
  double seconds = 0;     ///< when the last worker reached it; virtual or real
  double S_avg = 0, S_max = 0, S_hat_avg = 0, S_hat_max = 0;
};

/// All runs of one way and number of workers: means and standard deviations over seeds.
struct ScalingPoint {
  std::string way;
  std::size_t workers = 0, runs = 0, reached = 0;
  double iterations = 0, iterations_deviation = 0;
  double seconds = 0, seconds_deviation = 0;
  double speed_up = 0;  ///< time of one worker over this time
  double S_avg = 0, S_max = 0, S_hat_avg = 0, S_hat_max = 0;
};

using NetworkOfSeed = std::function<std::unique_ptr<Objective<float>>(std::uint64_t seed)>;

/// Runs what is not among the finished runs yet: simulations several at a time, runs on threads one
/// after the other, or, where they are padded, as many at a time as have together no more workers
/// than the largest of them; and takes along what is kept of other engines. Ends early when
/// `plan.stop` asks for it. `progress(done, total)` is called after each run, from any thread.
std::vector<ScalingRun> run_scaling(const NetworkOfSeed& network, const ScalingPlan& plan,
                                    const DoneSoFar& progress);

/// How the ranks of an MPI job make a run together.
struct RankEngine {
  std::size_t ranks = 1;
  bool first = true;                       ///< whether this is rank 0
  std::function<bool(bool)> of_rank_zero;  ///< what rank 0 says, on every rank
  /// Trains with a worker on each of the first ranks, as many as the options have workers; rank 0
  /// has the result.
  std::function<std::optional<TrainResult<float>>(const Objective<float>&, const TrainOptions&)>
      train;
};

/// The same with real ranks: `plan.workers` up to the number of ranks, and all of them.
/// Every rank calls it; rank 0 keeps and has the runs, and beside them what is kept of other
/// engines.
std::vector<ScalingRun> run_scaling_on_ranks(const NetworkOfSeed& network, const ScalingPlan& plan,
                                             const RankEngine& engine, const DoneSoFar& progress);

/// In the order of the runs; a point without a run at the target has no figures.
std::vector<ScalingPoint> summarise(const std::vector<ScalingRun>& runs);

std::string to_csv(const std::vector<ScalingRun>& runs);
std::string to_json(const std::vector<ScalingPoint>& points);
/// Iterations, time and speed-up over the number of workers.
std::string to_svg(const std::string& title, const std::vector<ScalingPoint>& points);

}  // namespace dasgd
