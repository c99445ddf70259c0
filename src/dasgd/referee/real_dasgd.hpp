// DASGD on real threads, as the referee looks at everybody.
#pragma once

#include "dasgd/core/objective.hpp"
#include "dasgd/rivals/play.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/virtual_time/observer.hpp"

namespace dasgd {

/// The program's own engine, with gradients at the pace of the world's clocks. The observer sees
/// the model of worker 0, in copies that it makes between two of its steps.
template <typename Real>
PlayResult perform_dasgd(const Objective<Real>& objective, const TrainOptions& options,
                         const VirtualWorld& world, const Observer<Real>& observer);

}  // namespace dasgd
