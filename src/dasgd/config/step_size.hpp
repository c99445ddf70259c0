// The step size of a run and what it is held against.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "dasgd/advice/advise.hpp"
#include "dasgd/config/config.hpp"

namespace dasgd::config {

/// Settles what is still open of the step size of a resolved config: the proved one by the advice
/// of a pilot, on threads or in the given virtual world, and for more ranks than this machine has
/// cores in virtual time; the automatic one as the best of several that were tried; and L, by its
/// closed form, for the guard and the certificate. `report` hears what is tried. Nothing is
/// settled when a stop was asked for meanwhile.
template <typename Real>
std::optional<Advice> settle_step_size(Config& config, const Objective<Real>& objective,
                                       const std::stop_token& stop,
                                       const VirtualWorld* world = nullptr,
                                       const std::function<void(const std::string&)>& report = {});

/// Whether workers may come and go.
bool is_elastic(const Config& config);

/// One line for a person: "lr proved: 0.0123, proved by ...", "lr auto: 0.1, best of ...".
std::string describe(const Advice& advice, const Config& config);

}  // namespace dasgd::config
