// A step that trains well, found by trying: short runs over a grid of step sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/advice/pilot.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// What a short run with one step size came to.
struct TriedStep {
  double eta = 0;
  std::uint64_t gradients = 0;  ///< of all workers together
  std::optional<double> loss;   ///< on a fixed part of the samples; nothing if it diverged
};

/// A step that no proof speaks for.
struct PracticalStep {
  double eta = 0;
  std::string how;
  Schedule schedule;  ///< that it was tried with, and is for
  std::vector<TriedStep> tried;
  double share = 1;  ///< eta, divided by the best step of the trials
};
/// "0.5 of ", or "0.5 of 0.05885, " with the best step; nothing where the step is the best itself,
/// or its share would be rounded to 1.
std::string part_of_best(double share, std::optional<double> best = {});

/// How long trials may last, and who gets a line about each.
struct TrialLimits {
  double seconds = 60;  ///< no trial begins that would probably end after that
  std::function<void(const std::string&)> report = {};  ///< a line for a person, after each of them
  Clock clock = clock_from_now();
  std::optional<double> gradient_seconds = {};  ///< where it was timed before
};

/// The seconds that `lr` auto may take before a run that lasts so long: a tenth of it, or 10.
double seconds_for_trials(double run_seconds);

/// Runs the options, with their own rule and number of workers, in virtual time from x^0 with steps
/// around 1 / L: first far apart, then close to the best, and beyond it while larger ones are
/// better. From 0.7 of the best to the best, or from half of it where gradients have no noise; for
/// safety as close to the proved step as that allows. Without a `world` the workers are threads of
/// this machine, which share its cores. Every run makes the same gradients of the
/// same samples, as many as fit into a few seconds, or a tenth of a long run, and no more than
/// `horizon`. Where that is known and gradients have noise, the step comes with a schedule that
/// cools down, unless `options` has one or it is to be kept as it is: runs with a fixed step would
/// be judged by their noise, and short ones would favour steps that are too small for long ones.
/// Nothing where a gradient takes too long even for one of them, or the workers are too many. Steps
/// close to 1 / L are tried first: where there is no time for all, the others are left out.
template <typename Real>
std::optional<PracticalStep> try_steps(const Objective<Real>& objective,
                                       const TrainOptions& options,
                                       const std::optional<VirtualWorld>& world, double L,
                                       double proved, std::optional<double> horizon,
                                       bool keep_schedule = false, const TrialLimits& limits = {});

}  // namespace dasgd
