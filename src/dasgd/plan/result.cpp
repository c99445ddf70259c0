#include "dasgd/plan/result.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>
#include <xxhash.h>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

template <typename Real>
std::string digest(const Replica<Real>& replica) {
  const auto bytes = std::as_bytes(replica.sums());
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("xxh3-128:{:016x}{:016x}", hash.high64, hash.low64);
}

void add_up(std::span<const WorkerReport> reports, RunSummary& summary) {
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
  }
}

void compare(std::span<const WorkerReport> reports, RunSummary& summary) {
  const WorkerReport& first = reports.front();
  summary.replica_digest = first.digest;
  summary.replicas_identical = true;
  for (const auto& report : reports) {
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
  const bool fixed = summary.halvings == 0 && options.rule.is_plain();
  StepLimits step =
      step_limits(summary.staleness, options.eta, *options.smoothness,
                  {.noise = noisy, .fixed_step = fixed, .complete = summary.audit_is_clean()});
  if (noisy || !fixed || options.resume || !reports.front().squared_gradients) return step;
  const double start = objective.loss(objective.start());
  MeasuredBound largest{0, 1};
  for (const auto& report : reports) {
    const MeasuredBound measured{*report.squared_gradients,
                                 2 * (start - summary.loss) / options.eta};
    if (measured.ratio() >= largest.ratio()) largest = measured;
  }
  step.certificate = largest;
  if (const auto least = objective.least_loss())
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

}  // namespace

template <typename Real>
WorkerReport report_of(const WorkerAccount<Real>& account) {
  return {account.worker->computed(),
          account.worker->duplicated(),
          account.worker->applied(),
          digest(account.worker->replica()),
          account.S,
          account.S_hat,
          account.W,
          account.noncausal_applications,
          account.copies_dropped,
          account.samples,
          account.iterations,
          account.time,
          account.squared_gradients,
          account.halvings};
}

template <typename Real>
TrainResult<Real> conclude(const Objective<Real>& objective, const TrainOptions& options,
                           std::span<const WorkerAccount<Real>> accounts, double seconds) {
  std::vector<WorkerReport> reports;
  for (const auto& account : accounts) reports.push_back(report_of(account));
  return conclude<Real>(objective, options, reports, *accounts.front().worker, seconds);
}

template <typename Real>
TrainResult<Real> conclude(const Objective<Real>& objective, const TrainOptions& options,
                           std::span<const WorkerReport> reports, const Worker<Real>& first,
                           double seconds) {
  TrainResult<Real> result;
  RunSummary& summary = result.summary;
  summary.workers = reports.size();
  summary.seed = options.seed;
  summary.stop_reason = "budget";
  summary.wall_seconds = seconds;
  add_up(reports, summary);
  compare(reports, summary);
  add_earlier_legs(options, summary);
  const double all = summary.wall_seconds;
  summary.samples_per_second = all > 0 ? static_cast<double>(summary.samples) / all : 0;
  result.failure = late_divergence(first, options.eta);
  result.model.resize(objective.dimension());
  to_real<Real>(first.replica().sums(), result.model);
  try {
    summary.loss = objective.loss(result.model);
    const HeldOut found = objective.evaluate(result.model);
    summary.accuracy = found.accuracy;
    summary.eval_loss = found.loss;
    const bool noisy = gradients_have_noise(options, objective.samples());
    if (options.measure_gradients)
      summary.residuals_why =
          "only virtual time sees all replicas at once: dasgd simulate has them";
    if (options.smoothness)
      summary.step = held_against_theory<Real>(objective, options, reports, summary, noisy);
  } catch (...) {
    summary.loss = std::nan("");
    if (!result.failure) result.failure = std::current_exception();
  }
  return result;
}

template <typename Real>
void fall_back_if_diverged(const Objective<Real>& objective, GoodModel<Real>& good,
                           TrainResult<Real>& result) {
  if (result.summary.stop_reason != "diverged") return;
  std::vector<Real> model = good.take();
  if (model.empty()) return;
  const double loss = objective.loss(model);
  if (result.summary.loss <= loss) return;
  result.model = std::move(model);
  result.summary.loss = loss;
  const HeldOut found = objective.evaluate(result.model);
  result.summary.accuracy = found.accuracy;
  result.summary.eval_loss = found.loss;
  result.summary.model_is_last_good = true;
}

template void fall_back_if_diverged(const Objective<float>&, GoodModel<float>&,
                                    TrainResult<float>&);
template void fall_back_if_diverged(const Objective<double>&, GoodModel<double>&,
                                    TrainResult<double>&);
template TrainResult<float> conclude(const Objective<float>&, const TrainOptions&,
                                     std::span<const WorkerAccount<float>>, double);
template TrainResult<double> conclude(const Objective<double>&, const TrainOptions&,
                                      std::span<const WorkerAccount<double>>, double);

template TrainResult<float> conclude(const Objective<float>&, const TrainOptions&,
                                     std::span<const WorkerReport>, const Worker<float>&, double);
template TrainResult<double> conclude(const Objective<double>&, const TrainOptions&,
                                      std::span<const WorkerReport>, const Worker<double>&, double);
template WorkerReport report_of(const WorkerAccount<float>&);
template WorkerReport report_of(const WorkerAccount<double>&);

}  // namespace dasgd
