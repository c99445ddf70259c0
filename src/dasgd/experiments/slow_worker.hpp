// The paper's figures (a) and (b): two workers, one of them x times slower (section 5).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/record/run_summary.hpp"

namespace dasgd {

struct SlowWorkerPlan {
  std::vector<double> factors{1, 2, 5, 10, 25, 50, 100};
  std::vector<std::uint64_t> seeds{1, 2, 3, 4};
  std::vector<double> etas{0.002};
  double target_error = 1e-12;
  unsigned threads = 2;  ///< simulations at a time
};

/// One simulated run: compute 50 ms, latency 50 us, apply 5 us.
struct SlowWorkerRun {
  double eta = 0, factor = 0;
  std::uint64_t seed = 0;
  double L = 0;
  RunSummary summary;
};

/// Mean and standard deviation over seeds.
struct Spread {
  double mean = 0, deviation = 0;
};

/// All runs of one eta and factor.
struct SlowWorkerPoint {
  double eta = 0, factor = 0;
  std::vector<Spread> iterations, seconds;                    ///< per worker, at the target
  double S_avg = 0, S_max = 0, S_hat_avg = 0, S_hat_max = 0;  ///< means over seeds
  double published_eta_1 = 0, published_eta_2 = 0, certified_eta = 0;
};

using ProblemOfSeed = std::function<std::unique_ptr<Objective<double>>(std::uint64_t seed)>;

/// Runs everything; `progress(done, total)` is called after each run, from any thread.
std::vector<SlowWorkerRun> run_slow_worker(
    const ProblemOfSeed& problem, const SlowWorkerPlan& plan,
    const std::function<void(std::size_t, std::size_t)>& progress);

std::vector<SlowWorkerPoint> summarise(const std::vector<SlowWorkerRun>& runs);

std::string to_csv(const std::vector<SlowWorkerRun>& runs);
std::string to_json(const std::vector<SlowWorkerPoint>& points);
/// Iterations and time over the slow factor, with shaded deviation, for the first eta; and, where
/// there are several, iterations relative to factor 1.
std::string to_svg(const std::string& title, const std::vector<SlowWorkerPoint>& points);

}  // namespace dasgd
