#include "dasgd/run/conclude.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dasgd/base/digest.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/run/budget.hpp"
#include "dasgd/run/check_assumptions.hpp"
#include "dasgd/run/leg.hpp"

namespace dasgd {
namespace {

void add_up(std::span<const WorkerReport> reports, RunSummary& summary) {
  double losses = 0, count = 0;
  for (const auto& report : reports) {
    summary.gradients += report.computed;
    summary.gradients_by_worker.push_back(report.computed);
    summary.samples += report.samples;
    summary.duplicated += report.duplicated;
    summary.copies_dropped += report.copies_dropped;
    summary.noncausal_applications += report.noncausal_applications;
    summary.staleness.add_worker(report.S, report.S_hat, report.W);
    summary.iterations.push_back(report.iterations);
    summary.time.push_back(report.time);
    summary.halvings += report.halvings;
    summary.folded += report.folded;
    summary.messages_sent.push_back(report.sent.messages);
    summary.bytes_sent.push_back(report.sent.bytes);
    summary.waited_seconds.push_back(static_cast<double>(report.waited) * 1e-9);
    summary.lambda.push_back(report.look_ahead ? report.look_ahead->lambda : 0);
    if (report.look_ahead) {
      if (!summary.look_ahead) summary.look_ahead.emplace();
      summary.look_ahead->add(*report.look_ahead);
    }
    if (report.residual) summary.residual_norms.push_back(*report.residual);
    if (!report.recent_loss) continue;
    losses += *report.recent_loss;
    count += 1;
  }
  if (count > 0) summary.batch_loss = losses / count;
}

void compare(std::span<const WorkerReport> reports, const std::vector<std::string>& labels,
             RunSummary& summary) {
  const WorkerReport& first = reports.front();
  summary.replica_digest = first.digest;
  summary.replicas_identical = true;
  for (const auto& report : reports) {
    const std::size_t i = summary.digest_of_all.size();
    summary.digest_of_all.push_back(
        {i < labels.size() ? labels[i] : fmt::format("worker {}", i), report.digest});
    summary.lost += summary.gradients - report.applied.size();
    const bool same = report.applied == first.applied && report.digest == first.digest;
    summary.replicas_identical = summary.replicas_identical && same;
  }
}

// Holds eta against the limits, and the measured sums against the bounds. The bounds are for
// gradients without noise and one fixed step size.
template <typename Real>
StepLimits held_against_theory(const Objective<Real>& objective, const TrainOptions& options,
                               std::span<const WorkerReport> reports, const RunSummary& summary,
                               bool noisy) {
  StepLimits step = step_limits(summary.staleness, options.eta, *options.smoothness,
                                {.noise = noisy,
                                 .fixed_step = summary.fixed_step,
                                 .complete = summary.lost == 0 && summary.audit_is_clean(),
                                 .members = summary.elastic.has_value(),
                                 .look_ahead = summary.look_ahead.has_value()});
  if (noisy || summary.look_ahead || !summary.fixed_step || options.resume ||
      !reports.front().squared_gradients)
    return step;
  const double start = objective.loss(objective.start());
  MeasuredBound largest{0, 1};
  for (const auto& report : reports) {
    const MeasuredBound measured{*report.squared_gradients,
                                 2 * (start - summary.loss) / options.eta};
    if (measured.ratio() >= largest.ratio()) largest = measured;
  }
  step.certificate = largest;
  if (const auto least = objective.known().least_loss)
    step.published = {largest.left, 7 * (start - *least) / (3 * options.eta)};
  return step;
}

// The audit is about this leg; totals are of the whole run.
void add_earlier_legs(const TrainOptions& options, RunSummary& summary) {
  if (!options.resume) return;
  const Checkpoint& from = *options.resume;
  summary.resumed = {from.legs.size() + 1, from.gradients, from.samples, from.seconds};
  summary.gradients += from.gradients;
  summary.samples += from.samples;
  summary.wall_seconds += from.seconds;
}

// What ended a run that nobody stopped: its budget, or own sources that have no more.
StopReason natural_end(const TrainOptions& options, std::size_t samples,
                       const RunSummary& summary) {
  if (!options.make_samples) return StopReason::budget;
  const bool has_room =
      shared_budget(options, samples).has_room(summary.gradients, summary.samples);
  const auto starts = worker_starts(options, samples);
  bool all_at_limit = true;
  for (std::size_t i = 0; i < summary.gradients_by_worker.size(); ++i)
    all_at_limit = all_at_limit && starts[i].computed + summary.gradients_by_worker[i] >=
                                       gradient_limit(options, worker_id(i), samples);
  return has_room && !all_at_limit ? StopReason::samples : StopReason::budget;
}

// A model that left its range after the last gradient was computed has not been noticed yet.
template <typename Real>
std::exception_ptr late_divergence(const Worker<Real>& worker, double eta) {
  const auto at = worker.replica().diverged_at();
  if (!at) return nullptr;
  const double value = std::ldexp(static_cast<double>(worker.replica().sums()[*at]),
                                  FixedPoint<Real>::unit_exponent);
  const GradientName last{worker.id(), std::max(1u, worker.computed()) - 1};
  return std::make_exception_ptr(DivergenceError(worker.id(), last, *at, value, eta));
}

template <typename Real>
void evaluate(const Objective<Real>& objective, TrainResult<Real>& result) {
  RunSummary& summary = result.summary;
  summary.loss = objective.loss(result.model);
  summary.evaluated_part = objective.evaluated_part();
  summary.parts = objective.examine(result.model);
  const auto part = std::find_if(
      summary.parts.begin(), summary.parts.end(),
      [&](const PartFigures& figures) { return figures.part == summary.evaluated_part; });
  const HeldOut found =
      part == summary.parts.end() ? objective.evaluate(result.model) : part->held_out();
  summary.accuracy = found.accuracy;
  summary.eval_loss = found.loss;
  summary.arrivals = objective.arrivals();
  summary.train_samples =
      summary.arrivals && summary.arrivals->kept > 0 ? summary.arrivals->kept : objective.samples();
  if (found.loss || found.accuracy || !std::isnan(summary.loss)) return;
  // Only the caller of a loop knows f and its samples; here are the losses that it gave, if any.
  summary.train_samples = 0;
  if (summary.batch_loss && *summary.batch_loss != 0) summary.loss = *summary.batch_loss;
}

template <typename Real>
void fall_back(const Objective<Real>& objective, GoodModel<Real>& good, TrainResult<Real>& result) {
  std::vector<Real> model = good.take();
  if (model.empty() || result.summary.loss <= objective.loss(model)) return;
  result.model = std::move(model);
  result.summary.model_is_last_good = true;
  evaluate(objective, result);
}

// What was on its way when an evaluation met the target is in the final model too.
void hold_against_target(const TrainOptions& options, RunSummary& summary) {
  const bool by_accuracy = summary.stop_reason == StopReason::target_accuracy;
  if (!by_accuracy && summary.stop_reason != StopReason::target_eval_loss) return;
  const double target =
      by_accuracy ? *options.evaluation.target_accuracy : *options.evaluation.target_loss;
  const double found = (by_accuracy ? summary.accuracy : summary.eval_loss).value_or(std::nan(""));
  summary.target_met = by_accuracy ? found >= target : found <= target;
  if (*summary.target_met || !options.warn) return;
  options.warn(fmt::format(
      "the final model misses the target: {} {:.4g} instead of {:.4g}, because gradients that were "
      "in flight when it was met are in it too; model.best has the model that met it",
      by_accuracy ? "accuracy" : "loss", found, target));
}

/// Of all gradients, those since this member came: its time is to be held against these.
double share_seen(const RunSummary& s) {
  if (!s.elastic || s.gradients == 0) return 1;
  return 1 - static_cast<double>(s.elastic->joined_at_step) / static_cast<double>(s.gradients);
}

}  // namespace

template <typename Real>
WorkerReport audit_of(const Worker<Real>& worker) {
  WorkerReport report;
  report.computed = worker.computed();
  report.duplicated = worker.duplicated();
  report.applied = worker.applied();
  report.digest = digest_of(std::as_bytes(worker.replica().sums()));
  return report;
}

template <typename Real>
TrainResult<Real> conclude(const Objective<Real>& objective, const TrainOptions& options,
                           std::span<const WorkerReport> reports, const Worker<Real>& first,
                           RunEnd<Real> end) {
  TrainResult<Real> result;
  RunSummary& summary = result.summary;
  summary.workers = reports.size();
  summary.seed = options.seed;
  for (const double factor : options.time_factors) summary.speeds.push_back(1 / factor);
  summary.sampling = options.make_samples ? "source" : to_string(options.sampling);
  summary.wall_seconds = end.simulated_in.value_or(end.seconds);
  if (end.simulated_in) summary.virtual_seconds = end.seconds;
  summary.clocks = end.clocks;
  add_up(reports, summary);
  summary.message = options.message;
  if (options.relay) summary.relay = to_string(*options.relay);
  summary.links_why = options.links_why;
  summary.fixed_step = summary.halvings == 0 && options.rule.is_plain() &&
                       options.message == MessageFormat::full &&
                       std::holds_alternative<std::monostate>(options.make_rule);
  compare(reports, end.labels, summary);
  summary.replicas_compared = end.compared;
  if (end.elastic) {
    // What all members made together, not only this one.
    summary.elastic = *end.elastic;
    summary.replica_digest = audit_of(first).digest;
    summary.gradients = first.t();
    summary.samples = first.samples();
    summary.digest_of_all = end.digests;
    summary.replicas_identical = end.agreed && difference(end.digests).empty();
    summary.lost = 0;
  } else if (!end.compared) {
    summary.digest_of_all.clear();
  }
  add_earlier_legs(options, summary);
  summary.stop_reason =
      end.reason ? *end.reason : natural_end(options, objective.samples(), summary);
  const double all = summary.virtual_seconds.value_or(summary.wall_seconds);
  summary.samples_per_second =
      all > 0 ? share_seen(summary) * static_cast<double>(summary.samples) / all : 0;
  result.failure = end.failure ? end.failure : late_divergence(first, options.eta);
  if (const std::string who = difference(summary.digest_of_all); !result.failure && !who.empty())
    result.failure = std::make_exception_ptr(std::runtime_error("the replicas differ: " + who));
  result.model.resize(objective.dimension());
  to_real<Real>(first.replica().sums(), result.model);
  try {
    evaluate(objective, result);
    const bool noisy = gradients_have_noise(options, objective.samples());
    if (options.measure_gradients)
      summary.residuals_why =
          "only virtual time sees all replicas at once: dasgd simulate has them";
    if (options.smoothness)
      summary.step = held_against_theory<Real>(objective, options, reports, summary, noisy);
    summary.assumptions = check_assumptions(objective, options, summary, result.model);
    if (summary.stop_reason == StopReason::diverged) fall_back(objective, end.good, result);
  } catch (...) {
    summary.loss = std::nan("");
    if (!result.failure) result.failure = std::current_exception();
  }
  if (options.evaluation.every.count() > 0) end.judge.conclude(result);
  hold_against_target(options, summary);
  return result;
}

template TrainResult<float> conclude(const Objective<float>&, const TrainOptions&,
                                     std::span<const WorkerReport>, const Worker<float>&,
                                     RunEnd<float>);
template TrainResult<double> conclude(const Objective<double>&, const TrainOptions&,
                                      std::span<const WorkerReport>, const Worker<double>&,
                                      RunEnd<double>);
template WorkerReport audit_of(const Worker<float>&);
template WorkerReport audit_of(const Worker<double>&);

}  // namespace dasgd
