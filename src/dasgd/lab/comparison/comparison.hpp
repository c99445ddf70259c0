// From the settings of a comparison to a contest.
#pragma once

#include <string>
#include <vector>

#include "dasgd/config/config.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/lab/referee/contest/contest.hpp"
#include "dasgd/lab/referee/page/result_files.hpp"

namespace dasgd::config {

/// All rivals that are known by name: dasgd's rivals, those of the libraries, and `own`. Throws
/// InputError.
std::vector<RivalKind> known_rivals(const CompareSettings& compare,
                                    std::vector<RivalKind> own = {});

/// All rivals that take part, once each; without names the usual ones and all of one's own. Throws
/// InputError, before any data is read.
std::vector<ChosenRival> chosen_rivals(const CompareSettings& compare,
                                       const std::vector<RivalKind>& known);

/// The contest of a config that is resolved. Throws InputError.
template <typename Real>
Contest make_contest(const Config& config, const Objective<Real>& objective,
                     std::vector<ChosenRival> rivals);

/// All that makes a finished run what it is, but for its rival, world, step and seed.
std::string identity_of(const Config& config, const Contest& contest);

/// What the files of a comparison say of it, and which are wanted. `date`: of its journal.
ResultOptions result_options(const Config& config, const Contest& contest, const std::string& date);

/// The date in UTC, like 2026-11-18.
std::string today();

/// Where the comparison leaves its files: made, and of this or of no comparison. Throws InputError.
std::string comparison_directory(const Config& config);

}  // namespace dasgd::config
