// Whether a run kept to what its step size was proved for.
#pragma once

#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd {

/// Holds `options.assumptions` against the figures of a run that has ended with the model x.
template <typename Real>
std::vector<CheckedAssumption> check_assumptions(const Objective<Real>& objective,
                                                 const TrainOptions& options,
                                                 const RunSummary& summary,
                                                 const std::vector<Real>& x);

}  // namespace dasgd
