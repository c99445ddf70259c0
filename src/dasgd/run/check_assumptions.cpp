#include "dasgd/run/check_assumptions.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/run/point_sample.hpp"

namespace dasgd {
namespace {

// The pilot and the run compute the same figure in different orders.
bool within(double found, double at_most) {
  constexpr double rounding = 1e-9;
  return found <= at_most + rounding * std::abs(at_most);
}

void measured(CheckedAssumption& a, double found, std::string how) {
  a.found = found;
  a.held = within(found, *a.at_most);
  a.how = std::move(how);
}

// A variance is an estimate: beyond the assumed one only where it is so by more than its error.
template <typename Real>
void check_variance(const Objective<Real>& objective, const TrainOptions& options,
                    const std::vector<Real>& x, CheckedAssumption& a) {
  Random random(options.seed, Purpose::pilot, 3);
  const auto at_end =
      sample_point<Real>(objective, x, resolved_batch(options, objective.samples()), random);
  a.found = at_end.variance;
  a.held = at_end.variance - 1.96 * at_end.variance_error <= *a.at_most;
  a.how = fmt::format("{} mini-batches at the final model, +- {:.2g}", PointSample::batches,
                      1.96 * at_end.variance_error);
}

template <typename Real>
void check_distance(const Objective<Real>& objective, const RunSummary& summary,
                    CheckedAssumption& a) {
  const double start = objective.loss(objective.start());
  if (const auto least = objective.known().least_loss)
    return measured(a, start - *least, "f(x0) minus a lower bound of f");
  a.found = start - summary.loss;
  if (!within(*a.found, *a.at_most)) a.held = false;
  a.how = "how far the run descended; inf f is not known";
}

// Where the noise decided when to stop, a mean over the gradients until then has no bound.
bool noise_ended(StopReason reason) {
  using enum StopReason;
  return reason == target || reason == target_accuracy || reason == target_eval_loss ||
         reason == patience || reason == diverged;
}

bool somebody_ended(StopReason reason) {
  using enum StopReason;
  return reason == callback || reason == asked || reason == left || reason == interrupted ||
         reason == failed;
}

void check_timing(const RunSummary& s, CheckedAssumption& a) {
  if (noise_ended(s.stop_reason)) {
    a.held = false;
    a.how = "when the run ended (" + to_string(s.stop_reason) + ") depended on the noise";
  } else if (somebody_ended(s.stop_reason)) {
    a.how = "whoever ended the run may have looked at it";
  } else if (s.virtual_seconds) {
    a.held = true;
    a.how = "times in virtual time do not depend on gradients";
  } else {
    a.how = "in real time a run cannot show that no timing depends on the noise";
  }
}

void check_drained(const RunSummary& s, CheckedAssumption& a) {
  const bool drained = s.lost == 0 && s.audit_is_clean(), causal = s.noncausal_applications == 0;
  a.held = drained || causal;
  a.how = drained  ? "every worker applied every gradient"
          : causal ? "not all gradients were applied, but delivery was causal"
                   : "not all gradients were applied, and delivery was not causal";
}

template <typename Real>
void check(const Objective<Real>& objective, const TrainOptions& options, const RunSummary& s,
           const std::vector<Real>& x, CheckedAssumption& a) {
  if (a.name == "W") {
    if (s.staleness.W) return measured(a, static_cast<double>(*s.staleness.W), "of the whole run");
    a.how = "W was not kept";
  } else if (a.name == "S_avg") {
    measured(a, s.staleness.S_avg, "of the whole run");
  } else if (a.name == "S_max") {
    measured(a, static_cast<double>(s.staleness.S_max), "of the whole run");
  } else if (a.name == "sigma2") {
    check_variance(objective, options, x, a);
  } else if (a.name == "r0") {
    check_distance(objective, s, a);
  } else if (a.name == "causal") {
    a.held = s.noncausal_applications == 0;
    a.how = fmt::format("{} applications of a gradient before one that it depends on",
                        s.noncausal_applications);
  } else if (a.name == "draws") {
    a.held = options.sampling == Sampling::independent && !options.make_samples;
    a.how = "batches are drawn as sampling " + s.sampling + " says";
  } else if (a.name == "look_ahead") {
    a.held = std::ranges::all_of(s.lambda, [](double lambda) { return lambda == 0; });
    a.how = *a.held ? "gradients were computed at the replicas"
                    : "some gradients were computed ahead of the replicas";
  } else if (a.name == "timing") {
    check_timing(s, a);
  } else if (a.name == "drained") {
    check_drained(s, a);
  } else if (a.name == "workers") {
    if (s.elastic && s.elastic->left + s.elastic->lost > 0) a.held = false;
    a.how = "the proofs are for a fixed set of workers; members of an elastic run come and go";
  } else if (a.name == "step") {
    a.held = s.fixed_step;
    a.how = s.fixed_step ? "all steps had this size" : "step sizes were halved";
  } else {
    a.how = "an estimate of the pilot; a run cannot check it";
  }
}

}  // namespace

template <typename Real>
std::vector<CheckedAssumption> check_assumptions(const Objective<Real>& objective,
                                                 const TrainOptions& options,
                                                 const RunSummary& summary,
                                                 const std::vector<Real>& x) {
  std::vector<CheckedAssumption> checked;
  for (const Assumption& assumed : options.assumptions) {
    checked.push_back({assumed, {}, {}, {}});
    CheckedAssumption& last = checked.back();
    check(objective, options, summary, x, last);
    if (!options.resume || !last.held.value_or(false)) continue;
    last.held.reset();
    last.how = "nothing is known of earlier legs; in this one: " + last.how;
  }
  return checked;
}

template std::vector<CheckedAssumption> check_assumptions(const Objective<float>&,
                                                          const TrainOptions&, const RunSummary&,
                                                          const std::vector<float>&);
template std::vector<CheckedAssumption> check_assumptions(const Objective<double>&,
                                                          const TrainOptions&, const RunSummary&,
                                                          const std::vector<double>&);

}  // namespace dasgd
