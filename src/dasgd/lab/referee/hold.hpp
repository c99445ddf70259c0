// Holds a contest: tunes everybody, runs everybody with fresh seeds, on all cores.
#pragma once

#include <functional>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/referee/contest/contest.hpp"
#include "dasgd/lab/referee/contest/run_one.hpp"
#include "dasgd/lab/referee/journal.hpp"

namespace dasgd {

/// Called from any thread after each run: how many are done, and how many there will be about.
using RunsSoFar = std::function<void(std::size_t done, std::size_t about)>;

/// The rows, world after world, rivals in the order in which they were asked for. Same contest,
/// same rows, whatever the number of threads. Throws InputError for a rival that cannot run in a
/// world, before anything runs, and ContestInterrupted. `perform` is of a contest on a real engine.
template <typename Real>
std::vector<ContestRow> hold_contest(const Objective<Real>& objective, const Contest& contest,
                                     Journal& journal, const RunsSoFar& progress,
                                     const Perform<Real>& perform = {});

/// What a person should know before it begins: rivals that do not use all of a graph, and the like.
std::vector<std::string> notes_of(const Contest& contest);

}  // namespace dasgd
