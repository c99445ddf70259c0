// What comes out of a run, real or simulated: a model, figures, an audit.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/plan/divergence_guard.hpp"
#include "dasgd/plan/options.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

template <typename Real>
struct TrainResult {
  std::vector<Real> model;  ///< x, the same at every worker
  RunSummary summary;
  std::vector<Evaluation> evaluations;  ///< in order, the final model's last; none if not asked for
  std::vector<Real> best_model;         ///< of them; empty if an earlier leg had a better one
  std::exception_ptr failure;  ///< why the run ended early, if it failed; the rest is still valid
};

/// What one worker did.
template <typename Real>
struct WorkerAccount {
  const Worker<Real>* worker;
  StalenessStatistics S, S_hat;
  std::optional<std::uint64_t> W;
  std::uint64_t noncausal_applications;
  std::uint64_t copies_dropped;
  std::uint64_t samples;
  std::uint64_t iterations;                 ///< at the target where one was reached
  Nanoseconds time;                         ///< when that was
  std::optional<double> squared_gradients;  ///< sum of |grad f|^2 over its models, where evaluated
  std::uint32_t halvings;                   ///< of its step size
};

/// The same without the worker itself: what a rank tells of a worker to the one that concludes.
struct WorkerReport {
  std::uint32_t computed = 0;
  std::uint64_t duplicated = 0;
  GradientSet applied;
  std::string digest;  ///< of the exact sums
  StalenessStatistics S, S_hat;
  std::optional<std::uint64_t> W;
  std::uint64_t noncausal_applications = 0;
  std::uint64_t copies_dropped = 0;
  std::uint64_t samples = 0;
  std::uint64_t iterations = 0;
  Nanoseconds time = 0;
  std::optional<double> squared_gradients;
  std::uint32_t halvings = 0;
};
template <typename Real>
WorkerReport report_of(const WorkerAccount<Real>& account);

/// Audits a drained run: every gradient at every worker once, the same bits everywhere. Evaluates
/// the final model. `seconds` is the time the run took, real or virtual.
template <typename Real>
TrainResult<Real> conclude(const Objective<Real>& objective, const TrainOptions& options,
                           std::span<const WorkerAccount<Real>> accounts, double seconds);

/// The same from reports, in order of workers; `first` is worker 0.
template <typename Real>
TrainResult<Real> conclude(const Objective<Real>& objective, const TrainOptions& options,
                           std::span<const WorkerReport> reports, const Worker<Real>& first,
                           double seconds);

/// Where a run has diverged and a better model was seen on the way, that is its result.
template <typename Real>
void fall_back_if_diverged(const Objective<Real>& objective, GoodModel<Real>& good,
                           TrainResult<Real>& result);

}  // namespace dasgd
