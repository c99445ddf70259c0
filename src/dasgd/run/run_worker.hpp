// One worker of a run and all that goes with it, the same on threads, on ranks and in virtual time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/record/trace/trace_sink.hpp"
#include "dasgd/run/budget.hpp"
#include "dasgd/run/divergence_guard.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/run/target.hpp"
#include "dasgd/staleness/causal_weights.hpp"
#include "dasgd/staleness/ledger.hpp"

namespace dasgd {

/// What the workers of a process share.
template <typename Real>
struct SharedByWorkers {
  SharedBudget& budget;
  GoodModel<Real>& good;
  const std::atomic<bool>& stopped;  ///< no further samples
  bool only_S = false;               ///< W and S_hat are not asked for
};

/// A worker with its samples, rule, guard, targets and account of staleness. An engine gives it a
/// channel, calls `worker().step()` and hands in what that reports. Owned by one thread at a time.
template <typename Real>
class RunWorker {
 public:
  /// With `exact_sets` false, delivery must be causal: then t - s is the staleness and no sets are
  /// kept. All references must outlive this.
  RunWorker(WorkerId id, const Objective<Real>& objective, std::unique_ptr<Oracle<Real>> oracle,
            const TrainOptions& options, Channel& channel, const SharedByWorkers<Real>& shared,
            std::size_t fuse, bool exact_sets = true)
      : samples_(make_samples(options, id, objective.samples(), shared.budget, shared.stopped,
                              needed_labels(options, objective))),
        rule_(make_rule<Real>(options, id, objective.samples())),
        guard_(id, *rule_, options, shared.good),
        target_(objective, options),
        worker_(id, objective.start(), std::move(oracle), guard_, samples_, channel,
                target_.watches_models() ? 1 : fuse, look_ahead_of(options, objective.samples()),
                options.message) {
    if (options.elastic)
      ledger_.emplace();
    else if (exact_sets)
      ledger_.emplace(options.workers, shared.only_S);
    else if (!shared.only_S && options.workers <= CausalWeights::most_workers)
      weights_.emplace(options.workers);
    if (samples_.limit() == 0) target_.exempt_from_loss();
    restore<Real>(options, guard_, worker_);
  }

  Worker<Real>& worker() { return worker_; }
  const Worker<Real>& worker() const { return worker_; }
  BudgetedSamples& samples() { return samples_; }

  /// Accounts for what a step did; it was begun and complete at these times. The lines of the trace
  /// go to `lines`, where given. Throws Divergence when the loss has run away.
  void record(const StepReport& report, Nanoseconds start, Nanoseconds time,
              std::vector<TraceLine>* lines) {
    const bool own = report.kind == StepReport::Kind::computed;
    for (std::size_t k = 0; k < report.gradients.size(); ++k) {
      const GradientFacts& gradient = *report.gradients[k];
      const Staleness staleness = account(gradient, report.step + k);
      if (lines)
        lines->push_back({worker_.id(), report.step + k, gradient.name, gradient.origin_step, time,
                          own ? std::optional(start) : std::nullopt, staleness.S, staleness.S_hat});
    }
    last_time_ = time;
    if (report.folded) folded_ += report.gradients.size();
    if (own) computed_samples_ = samples_.samples();
    if (own) target_.observe_loss(report.loss);
    if (own)
      guard_.observe(worker_.t(), report.loss, *target_.recent_loss(), S().max, worker_.replica());
  }

  /// Goes on with another model: see Worker::adopt.
  void adopt(const GradientSet& applied, std::span<const Sum<Real>> sums, std::uint64_t samples) {
    ledger_->adopt(applied);
    worker_.adopt(applied, sums, samples);
  }

  /// Shows the model to the targets, at t = 0 and after every step; true when this one reaches
  /// them.
  bool reaches_target() {
    if (target_.watches_models()) target_.observe_model(worker_.replica().x());
    return target_.settle(worker_.t(), last_time_);
  }

  /// Whether the worker goes on after an update that could not be made: then with the same samples.
  bool survives() {
    if (!guard_.survives()) return false;
    samples_.give_again();
    return true;
  }

  const StalenessStatistics& S() const { return ledger_ ? ledger_->S() : S_; }
  std::optional<std::uint64_t> W() const {
    if (ledger_) return ledger_->W();
    return weights_ ? std::optional(weights_->largest()) : std::nullopt;
  }
  std::optional<double> recent_loss() const { return target_.recent_loss(); }
  std::uint64_t folded() const { return folded_; }
  /// Samples of the gradients that were recorded; the worker itself may be ahead, on another core.
  std::uint64_t samples_used() const { return computed_samples_; }
  const TargetTracker<Real>& target() const { return target_; }

  /// What it remembers for a checkpoint.
  CarryOver carry_over() {
    worker_.oracle().give_memory_back(guard_);
    const auto& few_bits = worker_.few_bits();
    const auto residual =
        few_bits ? std::as_bytes(few_bits->residual()) : std::span<const std::byte>();
    return {guard_.state(), worker_.oracle().state(), {residual.begin(), residual.end()}};
  }

  /// What look-ahead did so far; nothing where it is off.
  std::optional<LookAheadFigures> look_ahead() const {
    const LookAheadPlan& plan = worker_.point().plan();
    return plan.is_off() ? std::nullopt : std::optional(plan.figures());
  }

  /// What it did, when it has ended.
  WorkerReport report() const {
    WorkerReport r = audit_of(worker_);
    r.S = S();
    r.S_hat = ledger_ ? ledger_->S_hat() : S_;
    r.W = W();
    r.noncausal_applications = ledger_ ? ledger_->noncausal_applications() : 0;
    r.folded = folded_;
    r.samples = samples_.samples();
    r.iterations = target_.reached() ? target_.reached()->t : worker_.t();
    r.time = target_.reached() ? target_.reached()->time : last_time_;
    if (folded_ == 0) r.squared_gradients = target_.squared_gradients();
    r.halvings = guard_.halvings();
    r.recent_loss = recent_loss();
    r.look_ahead = look_ahead();
    if (worker_.few_bits()) r.residual = worker_.few_bits()->residual_norm();
    return r;
  }

 private:
  Staleness account(const GradientFacts& gradient, std::uint64_t t) {
    if (ledger_) return ledger_->record(gradient);
    const std::uint64_t staleness = t - gradient.origin_step;
    S_.add(staleness);
    if (weights_) weights_->apply(gradient, staleness);
    return {staleness, staleness};
  }

  BudgetedSamples samples_;
  const std::unique_ptr<UpdateRule<Real>> rule_;
  DivergenceGuard<Real> guard_;
  TargetTracker<Real> target_;
  std::optional<Ledger> ledger_;
  StalenessStatistics S_;  // without a ledger, like the next
  std::optional<CausalWeights> weights_;
  Worker<Real> worker_;
  std::uint64_t folded_ = 0, computed_samples_ = 0;
  Nanoseconds last_time_ = 0;  // of the last application
};

}  // namespace dasgd
