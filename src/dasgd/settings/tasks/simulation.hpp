// A simulated run in its directory.
#pragma once

#include <optional>

#include "dasgd/archive/directory_run.hpp"
#include "dasgd/elastic/world/simulate_members.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd::config {

/// Simulates into a directory. Of members that come and go it also leaves who they were
/// (members.json, by the numbers that the trace uses) and what happened to them.
template <typename Real>
TrainResult<Real> simulate_into(const RunDirectory& directory, bool with_trace,
                                const Objective<Real>& objective, const TrainOptions& options,
                                const VirtualWorld& world,
                                const std::optional<elastic::Scenario>& scenario);

}  // namespace dasgd::config
