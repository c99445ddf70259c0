// Training as one member of a run whose members come and go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/members/member.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"

namespace dasgd::members {

/// What must be the same at all members, a line each.
template <typename Real>
std::string facts_of(const Objective<Real>& objective, const TrainOptions& options);

/// Throws InputError for what members cannot do. `become_member` checks too; whoever writes files
/// checks first.
void require_elastic(const TrainOptions& options);

/// Begins a run, or calls the members of one.
template <typename Real>
std::unique_ptr<Member> become_member(const Objective<Real>& objective, const TrainOptions& options,
                                      MemberOptions member);

/// Takes part, with the options that it became a member with, and returns when the run is over or
/// this member has left it.
template <typename Real>
TrainResult<Real> train_member(const Objective<Real>& objective, TrainOptions options,
                               Member& member, const std::vector<Callback<Real>>& callbacks = {});

}  // namespace dasgd::members
