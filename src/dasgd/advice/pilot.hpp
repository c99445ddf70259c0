// A short run that shows how stale gradients get, and where the model goes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/staleness/statistics.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// The staleness that a run has, or will have.
struct PilotStaleness {
  StalenessSummary figures;
  double gradients_per_second = 0;  ///< of all workers together
  std::string how;                  ///< "measured: ...", "predicted: ..."
  std::uint64_t noncausal = 0;      ///< applications of a gradient that knew one not here yet
};

/// Seconds that have passed since some moment.
using Clock = std::function<double()>;
/// Those since now.
Clock clock_from_now();

/// The time of a gradient here in seconds: the median of some; `batch` 0 is of all samples. Where
/// it would take longer than a second it is estimated from one of fewer samples.
template <typename Real>
double time_of_gradient(const Objective<Real>& objective, std::size_t batch,
                        const Clock& clock = clock_from_now());

/// Runs the options on threads of this machine with a small step size, for a second.
/// Appends the model it ends with to `trajectory`.
template <typename Real>
PilotStaleness pilot_on_threads(const Objective<Real>& objective, TrainOptions options, double eta,
                                std::vector<std::vector<Real>>& trajectory);

/// Runs the options in virtual time with gradients that cost nothing to compute: staleness depends
/// on when things happen, not on what they are.
template <typename Real>
PilotStaleness pilot_in_virtual_time(const Objective<Real>& objective, const TrainOptions& options,
                                     const VirtualWorld& world);

/// One worker for a second: the trajectory where no pilot runs on threads.
template <typename Real>
void walk(const Objective<Real>& objective, const TrainOptions& options, double eta,
          std::vector<std::vector<Real>>& trajectory);

}  // namespace dasgd
