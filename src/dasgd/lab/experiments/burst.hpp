// A run that breaks both published inequalities of Theorem 1 (docs/errata.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

/// Everything here is computed from the trace of a simulation.
struct BurstResult {
  std::size_t gradients = 0;
  double eta = 0, L = 0, r0 = 0;
  std::vector<std::uint64_t> bursts;  ///< |S| at the worst worker, in order, up to the last above 0
  std::size_t quiet = 0;              ///< applications after that, all with |S| = 0
  StalenessSummary staleness;
  double sum_of_squares = 0;     ///< of |grad f(x_i^t)| over t at the worst worker
  double Q = 0;                  ///< the bound of |grad f| (Assumption 4)
  double published_bound_1 = 0;  ///< what the first form of Theorem 1 says it is at most
  double published_eta_1 = 0;    ///< up to which it says so
  double published_bound = 0;    ///< the same of the second form
  double published_eta = 0;
  double certified_eta = 0;  ///< the largest that the trace certificate allows
};

/// Four workers on the full graph, f(x) = x^2 / 2 up to |x| = 1 and |x| - 1/2 beyond, so that the
/// gradients are bounded, from x^0 = 1, three of them with a single
/// gradient that all are computed at x^0: applied together they overshoot. Writes the trace to
/// `path`.
BurstResult run_burst(const std::string& path);

std::string to_json(const BurstResult& exhibit);

}  // namespace dasgd
