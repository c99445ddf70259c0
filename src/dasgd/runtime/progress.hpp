// What a run looks like from outside while it goes.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "dasgd/record/evaluation.hpp"
#include "dasgd/run/figures.hpp"

namespace dasgd {

/// A moment of a run, as passed to callbacks.
template <typename Real>
struct Progress : RunFigures {
  std::optional<double> done;  ///< share of the budget, 0 to 1, where there is a budget
  std::optional<double> seconds_left;
  bool draining = false;  ///< nobody computes any more
  /// A recent x of worker 0, or nothing yet: worker 0 copies its model only when this is called,
  /// and the next report has a newer one. The numbers stay until the next call.
  std::function<std::span<const Real>()> model = [] { return std::span<const Real>(); };
  std::optional<Evaluation> evaluation;  ///< the latest
  bool evaluated = false;                ///< it was made since the last report
  std::optional<Evaluation> best;        ///< where a new best was found since the last report
  std::span<const Real> best_model;      ///< that best
};

enum class Flow { go_on, stop };

/// Called on the thread that called train(), never on a worker: a slow callback slows nobody.
template <typename Real>
using Callback = std::function<Flow(const Progress<Real>&)>;

/// Stops once `seconds` have passed without a loss lower than all before.
template <typename Real>
Callback<Real> stop_without_improvement(double seconds) {
  return [best = std::optional<double>(), since = 0.0, seconds](const Progress<Real>& p) mutable {
    if (p.loss && (!best || *p.loss < *best)) {
      best = p.loss;
      since = p.seconds;
    }
    return best && p.seconds - since > seconds ? Flow::stop : Flow::go_on;
  };
}

}  // namespace dasgd
