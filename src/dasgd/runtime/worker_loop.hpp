// What one worker's thread does: step until everything is computed, announced and applied.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "dasgd/core/worker.hpp"
#include "dasgd/data/batches.hpp"
#include "dasgd/plan/budget.hpp"
#include "dasgd/plan/divergence_guard.hpp"
#include "dasgd/plan/leg.hpp"
#include "dasgd/plan/options.hpp"
#include "dasgd/plan/result.hpp"
#include "dasgd/plan/target.hpp"
#include "dasgd/runtime/control.hpp"
#include "dasgd/runtime/paced.hpp"
#include "dasgd/runtime/snapshot_board.hpp"
#include "dasgd/runtime/worker_status.hpp"
#include "dasgd/staleness/ledger.hpp"
#include "dasgd/transport/endpoint.hpp"

namespace dasgd {

/// Tells when all workers have reached their target, on the thread of the last. Shared by all
/// threads.
class TargetGate {
 public:
  TargetGate(std::size_t workers, std::function<void()> all_reached)
      : missing_(workers), all_reached_(std::move(all_reached)) {}
  void reached() {
    if (missing_.fetch_sub(1) == 1) all_reached_();
  }

 private:
  std::atomic<std::size_t> missing_;
  const std::function<void()> all_reached_;
};

/// One worker with its samples, rule, ledger and status. `run` is the body of its thread;
/// everything else but the status is to be read when that thread has ended.
template <typename Real>
class WorkerLoop {
 public:
  WorkerLoop(WorkerId id, const Objective<Real>& objective, const TrainOptions& options,
             std::size_t batch, Endpoint& endpoint, Control& control, TargetGate& gate,
             GoodModel<Real>& good, SnapshotBoard* snapshots = nullptr)
      : id_(id),
        snapshots_(snapshots),
        endpoint_(endpoint),
        control_(control),
        trace_(options.trace),
        watch_(options.watch),
        chaos_(options.chaos),
        samples_(make_samples(options, id, objective.samples(), batch, control.stop_flag())),
        paced_(objective, slow_factor(options, id), options.compute, control),
        rule_(make_rule<Real>(options, samples_.limit())),
        guard_(id, rule_, options, good),
        target_(objective, options),
        gate_(gate),
        ledger_(options.workers),
        worker_(id, paced_.changes_anything() ? paced_ : objective, guard_, samples_, endpoint,
                target_.watches_models() ? 1 : max_fused) {
    restore<Real>(options, guard_, worker_);
  }

  void run() {
    try {
      work();
    } catch (...) {
      control_.abandon(std::current_exception());
    }
    control_.worker_finished();
  }

  /// What this worker did, when its thread has ended.
  WorkerAccount<Real> account() const {
    return {&worker_,
            ledger_.S(),
            ledger_.S_hat(),
            ledger_.W(),
            ledger_.noncausal_applications(),
            endpoint_.copies_dropped(),
            samples_.samples(),
            target_.reached() ? target_.reached()->t : worker_.t(),
            target_.reached() ? target_.reached()->time : last_time_,
            target_.squared_gradients(),
            guard_.halvings()};
  }
  std::uint32_t limit() const { return samples_.limit(); }
  WorkerStatus<Real>& status() { return status_; }
  /// What can be seen of this worker from outside while it runs. Any thread.
  WorkerSight sight() const {
    return {.worker = id_,
            .figures = status_.figures(),
            .applications = status_.applications.load(std::memory_order_relaxed),
            .computed = status_.computed.load(std::memory_order_relaxed),
            .no_room = status_.no_room.load(std::memory_order_relaxed),
            .inbox_depth = endpoint_.inbox_depth(),
            .announced_total = endpoint_.announced_total(),
            .limit = limit()};
  }
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  static constexpr Nanoseconds publish_every = 20'000'000;
  static constexpr std::size_t trace_piece = 512;

  void work() {
    if (samples_.limit() == 0) target_.exempt_from_loss();
    guarded([&] { observe_model(); });
    while (!finished()) {
      wait_out_pause();
      if (status_.model_wanted()) status_.publish_model(worker_.replica().x());
      if (snapshots_ && snapshots_->wanted(id_)) guarded([&] { give_snapshot(); });
      StepReport report;
      if (!guarded([&] { report = worker_.step(); })) continue;  // a failed run has no samples left
      if (report.gradients.empty()) {
        rest(report);
      } else {
        guarded([&] { record(report); });
      }
    }
    publish(endpoint_.now(), true);
    if (snapshots_) snapshots_->give_memory(id_, {guard_.state(), worker_.objective_state()});
  }

  // A pause ends early when the run is stopped, so that it can be drained.
  void wait_out_pause() {
    if (chaos_.pauses.empty()) return;
    const Nanoseconds now = endpoint_.now();
    if (const auto until = chaos_.paused_until(id_, now))
      control_.sleep_for(std::chrono::nanoseconds(*until - now));
  }

  // A failure ends the run but not this thread: what others sent is still applied and passed on, so
  // that every replica ends whole. False if the action failed.
  template <typename Action>
  bool guarded(Action&& action) {
    try {
      action();
      return true;
    } catch (const Divergence&) {
      if (!guard_.survives()) control_.fail(std::current_exception(), "diverged");
    } catch (...) {
      control_.fail(std::current_exception(), "failed");
    }
    return false;
  }

  bool finished() const {
    return control_.abandoned() || (announced_ && endpoint_.announced_total() == worker_.t());
  }

  void record(const StepReport& report) {
    const bool own = report.kind == StepReport::Kind::computed;
    for (std::size_t k = 0; k < report.gradients.size(); ++k) {
      const Gradient& gradient = *report.gradients[k];
      const Staleness staleness = ledger_.record(gradient);
      if (trace_ || watch_)
        lines_.push_back({id_, report.step + k, gradient.name, gradient.origin_step, report.time,
                          own ? std::optional(report.start) : std::nullopt, staleness.S,
                          staleness.S_hat});
    }
    last_time_ = report.time;
    if (own) {
      target_.observe_loss(report.loss);
      guard_.observe(worker_.t(), report.loss, *target_.recent_loss(), ledger_.S().max,
                     worker_.replica());
    }
    status_.applications.fetch_add(report.gradients.size(), std::memory_order_relaxed);
    if (own) status_.computed.fetch_add(1, std::memory_order_relaxed);
    observe_model();
    if (report.time - published_ >= publish_every || lines_.size() >= trace_piece)
      publish(report.time, false);
  }

  void observe_model() {
    if (target_.watches_models()) target_.observe_model(worker_.replica().x());
    if (target_.settle(worker_.t(), last_time_)) gate_.reached();
  }

  void rest(const StepReport& report) {
    status_.no_room.store(report.kind == StepReport::Kind::no_room, std::memory_order_relaxed);
    if (report.kind == StepReport::Kind::out_of_samples && !announced_) {
      endpoint_.announce(worker_.computed());
      announced_ = true;
    }
    if (finished()) return;
    publish(endpoint_.now(), false);
    endpoint_.wait(std::chrono::milliseconds(100));
    status_.no_room.store(false, std::memory_order_relaxed);
  }

  // Between two steps replica, set and memory belong together.
  void give_snapshot() {
    const Replica<Real>& replica = worker_.replica();
    if (!replica.diverged_at() && snapshots_->claim_replica())
      snapshots_->give_replica(std::as_bytes(replica.sums()), worker_.applied());
    snapshots_->give_memory(id_, {guard_.state(), worker_.objective_state()});
  }

  void publish(Nanoseconds now, bool finished) {
    published_ = now;
    if (watch_) watch_->add(id_, lines_, now);
    if (trace_) trace_->add(id_, std::move(lines_), now);
    lines_.clear();
    status_.publish({worker_.t(), worker_.computed(), samples_.samples(), target_.recent_loss(),
                     ledger_.S(), ledger_.W(), announced_, finished});
  }

  const WorkerId id_;
  SnapshotBoard* const snapshots_;
  Endpoint& endpoint_;
  Control& control_;
  TraceSink* const trace_;
  ApplicationSink* const watch_;
  const Chaos& chaos_;
  BudgetedBatches samples_;
  Paced<Real> paced_;
  StagedRule<Real> rule_;
  DivergenceGuard<Real> guard_;
  TargetTracker<Real> target_;
  TargetGate& gate_;
  Ledger ledger_;
  WorkerStatus<Real> status_;
  Worker<Real> worker_;
  std::vector<TraceLine> lines_;
  Nanoseconds last_time_ = 0;
  Nanoseconds published_ = 0;
  bool announced_ = false;
};

}  // namespace dasgd
