// DASGD for real, as the referee looks at everybody.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"
#include "dasgd/virtual_time/observer.hpp"

namespace dasgd {

/// Trains: `run_training`, or the same on ranks, where rank 0 alone has a result.
template <typename Real>
using TrainFor = std::function<std::optional<TrainResult<Real>>(
    const Objective<Real>&, const TrainOptions&, const std::vector<Callback<Real>>&)>;

/// The program's own engine, with gradients at the pace of the world's clocks. The observer sees
/// the model of worker 0, in copies that it makes between two of its steps; a rank without one has
/// none.
template <typename Real>
PlayResult perform_dasgd(const Objective<Real>& objective, const TrainOptions& options,
                         const VirtualWorld& world, const Observer<Real>* observer,
                         const TrainFor<Real>& train);

}  // namespace dasgd
