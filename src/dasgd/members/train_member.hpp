// Training as one member of a run whose members come and go.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
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

/// Throws InputError for what members cannot do. `train_member` asks too; who writes files asks
/// first.
void require_elastic(const TrainOptions& options);

/// Asks the members whether somebody with this objective can join: what it would find out as well
/// when it has begun. Throws InputError with the reason; false: it was stopped.
template <typename Real>
bool is_admitted(const Objective<Real>& objective, const TrainOptions& options,
                 const MemberOptions& member, std::chrono::nanoseconds limit, std::stop_token stop);

/// Begins a run or joins one, and returns when it is over or this member has left it. `begun` hears
/// where it listens.
template <typename Real>
TrainResult<Real> train_member(const Objective<Real>& objective, TrainOptions options,
                               const MemberOptions& member,
                               const std::vector<Callback<Real>>& callbacks = {},
                               const std::function<void(const std::string& address)>& begun = {});

}  // namespace dasgd::members
