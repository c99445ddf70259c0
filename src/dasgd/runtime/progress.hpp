// What a run looks like from outside while it goes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/channel.hpp"
#include "dasgd/record/evaluation.hpp"
#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

/// A moment of a run, as told to callbacks.
template <typename Real>
struct Progress {
  double seconds = 0;
  std::uint64_t gradients = 0;     ///< computed so far by all workers
  std::uint64_t applications = 0;  ///< iterations so far of all workers
  std::uint64_t samples = 0;
  std::optional<double> done;  ///< share of the budget, 0 to 1, where there is a budget
  std::optional<double> seconds_left;
  double gradients_per_second = 0;  ///< since the last report
  std::optional<double> loss;       ///< mean of the workers' last 30 mini-batch losses
  double S_now = 0;                 ///< mean |S| since the last report
  double S_avg = 0;                 ///< so far, as in Definition 2
  std::uint64_t S_max = 0;
  std::optional<double> certified_eta;   ///< for the staleness so far, where L is known
  std::size_t inbox_depth = 0;           ///< the fullest inbox
  bool draining = false;                 ///< nobody computes any more
  std::span<const Real> model;           ///< a recent x of worker 0; empty before the first one
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
