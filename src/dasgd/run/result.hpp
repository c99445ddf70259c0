// What comes out of a run, real or simulated: a model, figures, an audit.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/traffic.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/run/divergence_guard.hpp"
#include "dasgd/run/options.hpp"
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

/// What one worker did, as the audit sees it; also what a rank reports about it to the one that
/// concludes.
struct WorkerReport {
  std::uint32_t computed = 0;
  std::uint64_t duplicated = 0;
  GradientSet applied;
  std::string digest;  ///< of the exact sums
  StalenessStatistics S, S_hat;
  std::optional<std::uint64_t> W;
  std::uint64_t noncausal_applications = 0;
  std::uint64_t copies_dropped = 0;
  std::uint64_t folded = 0;  ///< gradients that it applied as part of a bundle
  Traffic sent;
  Nanoseconds waited = 0;
  std::uint64_t samples = 0;
  std::uint64_t iterations = 0;             ///< at the target where one was reached
  Nanoseconds time = 0;                     ///< when that was
  std::optional<double> squared_gradients;  ///< sum of |grad f|^2 over its models, where evaluated
  std::uint32_t halvings = 0;               ///< of its step size
  std::optional<double> recent_loss;        ///< mean of its last mini-batches
  std::optional<LookAheadFigures> look_ahead;
  std::optional<double> residual;  ///< norm of what rounding to few bits has left to be sent
};
/// The part that follows from the worker itself: what it computed and applied, and its digest.
template <typename Real>
WorkerReport audit_of(const Worker<Real>& worker);

}  // namespace dasgd
