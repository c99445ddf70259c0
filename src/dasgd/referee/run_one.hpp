// One rival in one world with one step size and one seed.
#pragma once

#include <optional>

#include "dasgd/referee/contest.hpp"
#include "dasgd/referee/examiner.hpp"

namespace dasgd {

/// What of a run is asked for.
struct RunRequest {
  double eta = 0.01;
  std::uint64_t seed = 1;
  bool thorough = true;             ///< with a curve, the worst worker and the staleness
  std::optional<Nanoseconds> most;  ///< ends there, if that is before the world's own end
  ContestEngine engine = ContestEngine::sim;
};

/// A run that is not thorough is looked at half as often. Throws ContestInterrupted when the
/// world's options ask for a stop.
template <typename Real>
ContestRun run_one(Examiner<Real>& examiner, const Contest& contest, const ChosenRival& rival,
                   const ContestWorld& world, const RunRequest& request);

}  // namespace dasgd
