// One rival in one world with one step size and one seed.
#pragma once

#include <functional>
#include <optional>

#include "dasgd/lab/referee/contest/contest.hpp"
#include "dasgd/lab/referee/contest/model_judge.hpp"
#include "dasgd/lab/rivals/play.hpp"

namespace dasgd {

/// What of a run is asked for.
struct RunRequest {
  double eta = 0.01;
  std::uint64_t seed = 1;
  bool thorough = true;              ///< with the worst worker and the staleness
  std::optional<Nanoseconds> most;   ///< of a crossing, if that is before the world's end
  const ContestRun* best = nullptr;  ///< of a trial: it is given up when it falls behind this one
};

/// Runs a rival for real, with these options, while the observer looks on.
template <typename Real>
using Perform = std::function<PlayResult(const ChosenRival&, const ContestWorld&,
                                         const TrainOptions&, const Observer<Real>&)>;
/// On threads of this process.
template <typename Real>
Perform<Real> perform_on_threads(const Objective<Real>& objective, const Contest& contest);

/// The options of DASGD as a rival: dasgd:relay=apply.
TrainOptions options_of_dasgd(const ChosenRival& rival, TrainOptions options);

/// In virtual time, or for real. A run that is not thorough is looked at half as often. Throws
/// ContestInterrupted when the world's options ask for a stop.
template <typename Real>
ContestRun run_one(ModelJudge<Real>& model_judge, const Contest& contest, const ChosenRival& rival,
                   const ContestWorld& world, const RunRequest& request,
                   const Perform<Real>* perform = nullptr);

}  // namespace dasgd
