// The end of a run, the same for every engine.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/run/good_model.hpp"
#include "dasgd/run/judge.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"

namespace dasgd {

/// How a leg ended.
template <typename Real>
struct RunEnd {
  double seconds = 0;                       ///< that it took, real or virtual
  std::optional<double> simulated_in = {};  ///< of a simulation: the real time that it took
  std::optional<StopReason> reason;         ///< why it was stopped; nothing: it ended by itself
  std::exception_ptr failure;
  GoodModel<Real>& good;
  Judge<Real>& judge;
  std::optional<MemberFigures> elastic = {};  ///< of a member among others ...
  bool agreed = false;                        ///< ... that all ended with the same
  bool compared = true;                       ///< the models: not if gradients were under way
  std::vector<ReplicaDigest> digests = {};    ///< of members
  std::vector<std::string> labels = {};       ///< of workers, where there is more to say of them
  std::optional<RankClocks> clocks = {};      ///< of ranks
};

/// Audits a drained run: every gradient at every worker once, the same bits everywhere. Evaluates
/// the final model; where the run has diverged and a better one was seen on the way, that is its
/// result. Reports are in order of workers, and `first` is worker 0; of members that come and go it
/// is one that came to the end.
template <typename Real>
TrainResult<Real> conclude(const Objective<Real>& objective, const TrainOptions& options,
                           std::span<const WorkerReport> reports, const Worker<Real>& first,
                           RunEnd<Real> end);

}  // namespace dasgd
