// A simulated run whose members come and go.
#pragma once

#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/elastic/protocol.hpp"
#include "dasgd/elastic/world/membership_plan.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd::elastic {

/// What makes a simulated run elastic.
struct Scenario {
  MembershipPlan membership_plan;
  Patience patience;
  Merge merge = Merge::average;
};

/// Throws InputError for a scenario that cannot be, and for what a run with members that come and
/// go has not.
void validate(const Scenario& scenario, const TrainOptions& options, const VirtualWorld& world);

/// One worker in the end.
struct MemberOutcome {
  std::string name, origin;
  std::string end;                 ///< ended, left, killed, never joined, or never came
  Nanoseconds came = 0, went = 0;  ///< or ended
  std::uint64_t joined_at_step = 0;
  std::uint32_t gradients = 0;  ///< that it computed
};

template <typename Real>
struct MembersResult {
  TrainResult<Real> result;            ///< of the first member that reached the end of the run
  std::vector<MemberOutcome> members;  ///< by worker
  std::string adoptions;               ///< lines of adoptions.jsonl
  std::vector<std::string> history;    ///< what members noticed, a line each
  std::vector<std::string> too_late;   ///< what was to happen when the run was over
};

/// Simulates until all who live have ended. Worker 0, or whoever starts first, begins the run;
/// the others join it. Same arguments, same result, to the byte of the trace.
template <typename Real>
MembersResult<Real> simulate_members(const Objective<Real>& objective, const TrainOptions& options,
                                     const VirtualWorld& world, const Scenario& scenario);

}  // namespace dasgd::elastic
