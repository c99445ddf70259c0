// Runs a configuration of `train` with finite data in virtual time, with the same worker code.
#pragma once

#include <cstdint>

#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/virtual_time/observer.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// Simulates a run until it is drained. Same arguments, same result, to the byte of the trace;
/// several simulations may go on in one process. `options.slow` multiplies compute times; `compute`
/// and the reporting options of a real run have no meaning here. A source of samples cannot be
/// woken from outside in virtual time: if it has no sample and no other event is left, it counts as
/// ended.
/// After an interrupt (`options.stop`) what is under way is delivered if that is little;
/// otherwise the run ends with gradients that were not applied everywhere (`lost`).
/// An observer changes nothing but when the run ends: where its time is over, the run ends at once,
/// without what is still under way and without a last look, unless `world.threads` help. W and
/// S_hat are not measured for it.
/// Throws InputError for what cannot be; what fails while running is in the result.
template <typename Real>
TrainResult<Real> run_simulation(const Objective<Real>& objective, const TrainOptions& options,
                                 const VirtualWorld& world,
                                 const Observer<Real>* observer = nullptr);

extern template TrainResult<float> run_simulation(const Objective<float>&, const TrainOptions&,
                                                  const VirtualWorld&, const Observer<float>*);
extern template TrainResult<double> run_simulation(const Objective<double>&, const TrainOptions&,
                                                   const VirtualWorld&, const Observer<double>*);

/// The same, and throws what failed.
template <typename Problem>
auto simulate(const Problem& problem, const TrainOptions& options, const VirtualWorld& world = {}) {
  const Objective<typename Problem::Scalar>& objective = problem;
  auto result = run_simulation(objective, options, world);
  if (result.failure) std::rethrow_exception(result.failure);
  return result;
}

}  // namespace dasgd
