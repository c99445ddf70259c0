// The paper's Figure 2 (a) and (b): two workers, one of them x times slower (section 5).
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
#include "dasgd/record/run_summary.hpp"
#include "dasgd/report/tables/sweep_runs.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"

namespace dasgd {

struct SlowWorkerPlan {
  /// x, for which the paper expects S_hat_max = x; 0 is a single worker.
  std::vector<double> factors{0, 1, 2, 5, 10, 25, 50, 100};
  std::vector<std::uint64_t> seeds{1, 2, 3, 4};
  std::vector<double> etas{0.002};
  double target_error = 1e-12;
  unsigned threads = 2;  ///< simulations at a time
  /// Of real runs: what is added to a gradient's own time, as in the paper. Virtual ones: compute
  /// 50 ms, latency 50 us, apply 5 us.
  std::chrono::nanoseconds compute = std::chrono::milliseconds(50);
  /// Q, where the gradients of a problem are bounded: then the first form of Theorem 1 is measured.
  std::function<std::optional<double>(const Objective<double>&)> gradient_bound;
  std::string cells;     ///< of real runs: directory that keeps finished ones; empty: none
  std::stop_token stop;  ///< of real runs
};

/// One run.
struct SlowWorkerRun {
  double eta = 0, factor = 0;
  std::uint64_t seed = 0;
  double L = 0;
  double r0 = 0;  ///< f(x^0) less a lower bound of f
  std::optional<double> Q;
  double squared_gradients = 0;  ///< mean of |grad f|^2 over all applications of the worst worker
  RunSummary summary;
  std::string way = "virtual";  ///< or "threads", "mpi"
};

/// All runs of one eta and factor.
struct SlowWorkerPoint {
  double eta = 0, factor = 0;
  std::string way;
  std::vector<report::MeanOf> iterations, seconds;            ///< per worker, at the target
  double S_avg = 0, S_max = 0, S_hat_avg = 0, S_hat_max = 0;  ///< means over seeds
  double published_eta_1 = 0, published_eta_2 = 0, certified_eta = 0;
  double squared_gradients = 0;  ///< see SlowWorkerRun
  /// After how many iterations Theorem 1 promises that mean: by its second form with this eta, and
  /// by its rates as printed (Psi_T), which choose eta themselves; no number where one says
  /// nothing.
  double predicted_2 = 0, psi_1 = 0, psi_2 = 0;
  /// The mean over what the first form says it is at most, where Q is known.
  double first_form = 0;
};

using ProblemOfSeed = std::function<std::unique_ptr<Objective<double>>(std::uint64_t seed)>;

/// Runs everything; `progress(done, total)` is called after each run, from any thread.
std::vector<SlowWorkerRun> run_slow_worker(const ProblemOfSeed& problem, const SlowWorkerPlan& plan,
                                           const DoneSoFar& progress);

/// How real runs are made.
struct RealEngine {
  std::string way;                         ///< "threads" or "mpi"
  bool first = true;                       ///< whether this process has the results
  std::function<bool(bool)> of_rank_zero;  ///< what rank 0 says, on every rank
  /// One worker alone, or two together; nothing where the result is elsewhere.
  std::function<std::optional<TrainResult<double>>(const Objective<double>&, const TrainOptions&)>
      train;
};

/// The same for real, one run after the other. Every process of the engine calls it; the first has
/// the runs, fewer than planned if `plan.stop` asked for an end.
std::vector<SlowWorkerRun> run_slow_worker_for_real(const ProblemOfSeed& problem,
                                                    const SlowWorkerPlan& plan,
                                                    const RealEngine& engine,
                                                    const DoneSoFar& progress);

/// T as Theorem 1 predicts it beside the measured one, a line per point.
std::string predicted_and_measured(const std::vector<SlowWorkerPoint>& points);

/// Runs of one eta and factor stand together, as they are made.
std::vector<SlowWorkerPoint> summarise(const std::vector<SlowWorkerRun>& runs);

std::string to_csv(const std::vector<SlowWorkerRun>& runs);
std::string to_json(const std::vector<SlowWorkerPoint>& points);
/// The paper expects S_hat_max = x: what it is, in one line.
std::string expected_and_measured(const std::vector<SlowWorkerPoint>& points);
/// Iterations and time over S_hat_max, with shaded deviation, for the first eta; and, where there
/// are several, iterations relative to those of the first factor.
std::string to_svg(const std::string& title, const std::vector<SlowWorkerPoint>& points);

}  // namespace dasgd
