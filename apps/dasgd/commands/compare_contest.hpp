// What `dasgd compare` was asked for, as a contest.
#pragma once

#include <stop_token>
#include <vector>

#include "dasgd/config/config.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/referee/contest.hpp"

namespace dasgd::app {

using config::Config;

/// Throws InputError for names and parameters that mean nothing.
std::vector<ChosenRival> chosen_rivals(const config::CompareSettings& compare);

/// Throws InputError for what cannot be.
template <typename Real>
Contest contest_of(const Config& config, const Objective<Real>& objective,
                   const std::stop_token& stop);

}  // namespace dasgd::app
