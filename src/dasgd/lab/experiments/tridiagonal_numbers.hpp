// Published numbers of experiments on the quadratic of lower bounds.
#pragma once

#include <vector>

#include "dasgd/lab/experiments/rival_numbers.hpp"

namespace dasgd {

/// The tuned parameters of Ringmaster's public code: of ringmaster, rennala and delay-adaptive.
void add_tuned_parameters(std::vector<PublishedNumber>& numbers);

/// Fragile SGD, appendix J: who contributes to a round on a mesh with slow edges.
void add_contributors(std::vector<PublishedNumber>& numbers);

}  // namespace dasgd
