// What a member takes from the options of its run.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

#include "dasgd/core/objective.hpp"
#include "dasgd/elastic/protocol_options.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd::elastic {

/// Sets what follows from the model, its messages and the budget of all members.
template <typename Real>
void take_options_of_run(const Objective<Real>& objective, const TrainOptions& run,
                         ProtocolOptions& to) {
  to.dimension = objective.dimension();
  to.format = number_format<Real>;
  to.chooses_message = run.message == MessageFormat::automatic;
  to.packs = run.message != MessageFormat::full && !to.chooses_message;
  if (run.relay && run.relay->kind == RelayChoice::Kind::tree)
    to.limits.children = run.relay->children;
  to.limits.in_flight = std::min<std::size_t>(
      16, resolved_in_flight(run, objective.dimension() * sizeof(Number<Real>)));
  if (run.checkpoint.save)
    to.compare_every = std::chrono::nanoseconds(run.checkpoint.every).count();
  to.budget = shared_budget(run, objective.samples());
}

/// For the worker of a member: the protocol counts what all have done together.
inline TrainOptions without_end(TrainOptions run) {
  run.epochs.reset();
  run.total_gradients = std::numeric_limits<std::uint64_t>::max();
  return run;
}

}  // namespace dasgd::elastic
