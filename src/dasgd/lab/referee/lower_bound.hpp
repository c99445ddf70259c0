// What the hardest function of a class costs any method (Tyurin and Richtarik 2024), up to a
// constant. A function that is easier, like a convex one, may take less.
#pragma once

#include <optional>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/referee/contest/contest.hpp"

namespace dasgd {

/// What the bound asks of a problem: L, f(x0) - inf f, the goal |grad f|^2 <= eps, and the variance
/// of a gradient.
struct BoundTerms {
  double L = 0, Delta = 0, eps = 0, sigma2 = 0;
};

/// (L Delta / eps) min over j and k of max{max(tau_jk, h_k), (sigma^2 / eps) / (sum of 1 / h_i, i
/// up to k)}, in the units of its arguments: `h` are the compute times, `tau[j][i]` the times from
/// j to i; for each j the workers are taken in the order of max(tau_ji, h_i).
double lower_bound(const BoundTerms& terms, const std::vector<double>& h,
                   const std::vector<std::vector<double>>& tau);

/// Seconds for a goal on the norm of the gradient in a world; nothing for other goals, or where L,
/// the least loss or one latency for all links is not known. The variance is measured at x0.
template <typename Real>
std::optional<double> lower_bound_seconds(const Objective<Real>& objective, const Contest& contest,
                                          const ContestWorld& world);

}  // namespace dasgd
