// The constants of the theory, measured on a problem: L, sigma^2, Q, r0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"

namespace dasgd {

/// A constant, an interval that holds it, and how it was got.
struct Estimate {
  double value = 0;
  double low = 0, high = 0;
  std::string how;
  std::uint64_t samples = 0;  ///< how many evaluations it rests on
};

/// L, which is proved where it has a closed form and a guess from below where not.
struct Smoothness : Estimate {
  bool closed_form = false;
};

struct ProblemConstants {
  Smoothness L;     ///< smoothness (Assumption 3)
  Estimate sigma2;  ///< variance of mini-batch gradients (Assumption 1)
  Estimate Q;       ///< largest gradient norm (Assumption 4)
  Estimate r0;      ///< f(x^0) - inf f
};

/// How much measuring may cost.
struct Effort {
  std::size_t most_rows = 256;         ///< of a gradient that is computed for it
  std::function<bool()> is_over = {};  ///< the time is, or somebody has asked for a stop
};

struct ConstantsRequest {
  std::size_t batch = 0;  ///< samples per gradient, drawn independently; 0: all
  std::uint64_t seed = 1;
  std::optional<double> least_loss;  ///< inf f where the caller knows it
  std::optional<Smoothness> L;       ///< where it was measured before
  Effort effort = {};
};

/// L alone: closed form where the problem has one, else the largest curvature that power iteration
/// on gradient differences finds at the given points, or was found at one point `before`: an
/// estimate from below. One round is made at least.
template <typename Real>
Smoothness measure_smoothness(const Objective<Real>& objective,
                              std::span<const std::vector<Real>> points, std::uint64_t seed,
                              const Smoothness* before = nullptr, const Effort& effort = {});

/// All of them. `points` lie on a trajectory; the first is x^0.
template <typename Real>
ProblemConstants measure_constants(const Objective<Real>& objective,
                                   std::span<const std::vector<Real>> points,
                                   const ConstantsRequest& request);

}  // namespace dasgd
