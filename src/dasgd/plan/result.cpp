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
          account.time};
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
  summary.samples_per_second = seconds > 0 ? static_cast<double>(summary.samples) / seconds : 0;
  result.failure = late_divergence(first, options.eta);
  result.model.resize(objective.dimension());
  to_real<Real>(first.replica().sums(), result.model);
  try {
    summary.loss = objective.loss(result.model);
    summary.accuracy = objective.accuracy(result.model);
  } catch (...) {
    summary.loss = std::nan("");
    if (!result.failure) result.failure = std::current_exception();
  }
  return result;
}

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
