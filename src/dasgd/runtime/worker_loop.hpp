// What one worker's thread does: step until everything is computed, announced and applied.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/run/run_worker.hpp"
#include "dasgd/runtime/boards/model_board.hpp"
#include "dasgd/runtime/boards/snapshot_board.hpp"
#include "dasgd/runtime/boards/worker_status.hpp"
#include "dasgd/runtime/control.hpp"
#include "dasgd/runtime/paced.hpp"
#include "dasgd/transport/endpoint.hpp"

namespace dasgd {

/// Throws InputError for a trace that does not expect every worker's own thread.
inline void require_trace_of_all(const TrainOptions& options) {
  if (options.trace && options.trace->sources() != options.workers)
    throw InputError("the trace writer was made for another number of workers");
}

/// Reports when all workers have reached their target, on the thread of the last. Shared by all
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

/// What the loops of a process share.
template <typename Real>
struct SharedByLoops {
  Control& control;
  TargetGate& gate;
  SharedBudget& budget;
  GoodModel<Real>& good;
  SnapshotBoard* snapshots = nullptr;  ///< where checkpoints are taken
  /// What else is to be done between two steps; `record` takes what it makes the worker do.
  std::function<void(RunWorker<Real>& run, const std::function<void(const StepReport&)>& record)>
      between_steps = {};
};

/// One worker with its endpoint and status. `run` is the body of its thread; everything else but
/// the status is to be read when that thread has ended.
template <typename Real>
class WorkerLoop {
 public:
  WorkerLoop(WorkerId id, const Objective<Real>& objective, const TrainOptions& options,
             Endpoint& endpoint, const SharedByLoops<Real>& shared)
      : id_(id),
        snapshots_(shared.snapshots),
        endpoint_(endpoint),
        control_(shared.control),
        trace_(options.trace),
        watch_(options.watch),
        applied_(options.applied),
        chaos_(options.chaos),
        gate_(shared.gate),
        between_steps_(shared.between_steps),
        run_(
            id, objective,
            paced(objective.make_oracle(id),
                  {real_slow_factor(options, id), options.compute, options.compute_adds}, control_),
            options, endpoint, {shared.budget, shared.good, control_.stop_flag()}, max_fused) {
    run_.samples().on_arrival([this] { endpoint_.wake(); });
    run_.worker().oracle().run_ahead();
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
  WorkerReport report() const {
    WorkerReport report = run_.report();
    report.copies_dropped = endpoint_.copies_dropped();
    report.sent = endpoint_.sent();
    report.waited = endpoint_.waited();
    return report;
  }
  const Worker<Real>& worker() const { return run_.worker(); }
  /// Copies of its model, for any thread.
  ModelBoard<Real>& models() { return models_; }
  /// What can be seen of this worker from outside while it runs. Any thread.
  WorkerView view() const {
    return {.worker = id_,
            .figures = status_.figures(),
            .applications = status_.applications.load(std::memory_order_relaxed),
            .computed = status_.computed.load(std::memory_order_relaxed),
            .without_sample = status_.without_sample.load(std::memory_order_relaxed),
            .inbox_depth = endpoint_.inbox_depth(),
            .announced_total = endpoint_.announced_total()};
  }

 private:
  static constexpr Nanoseconds publish_every = 20'000'000;
  static constexpr std::size_t trace_piece = 512;

  void work() {
    guarded([&] { observe_model(); });
    while (!finished()) {
      wait_out_pause();
      if (models_.wanted()) models_.give(run_.worker().replica().x());
      if (snapshots_ && snapshots_->wanted(id_)) guarded([&] { give_snapshot(); });
      if (between_steps_)
        guarded([&] { between_steps_(run_, [&](const StepReport& done) { record(done); }); });
      report_applied();
      StepReport report;
      if (!guarded([&] { report = run_.worker().step(); })) continue;  // it has no samples left
      status_.without_sample.store(report.kind == StepReport::Kind::no_sample_now,
                                   std::memory_order_relaxed);
      if (report.gradients.empty()) {
        rest(report);
      } else {
        guarded([&] { record(report); });
        run_.worker().release_applied();
      }
    }
    report_applied();
    publish(endpoint_.now(), true);
    if (snapshots_) snapshots_->give_carry_over(id_, run_.carry_over());
    run_.worker().end_computing();
  }

  void report_applied() {
    if (!applied_) return;
    applied_->gradients.store(run_.worker().t(), std::memory_order_relaxed);
    applied_->samples.store(run_.worker().samples(), std::memory_order_relaxed);
  }

  // A pause ends early when the run is stopped, so that it can be drained.
  void wait_out_pause() {
    if (chaos_.pauses.empty()) return;
    const Nanoseconds now = endpoint_.now();
    if (const auto until = chaos_.paused_until(id_, now))
      control_.sleep_for(std::chrono::nanoseconds(*until - now));
  }

  // A failure ends the run but not this thread: what others sent is still applied and passed on, so
  // that every replica ends whole; unless something is lost that everybody would wait for. False if
  // the action failed.
  template <typename Action>
  bool guarded(Action&& action) {
    try {
      action();
      return true;
    } catch (const Divergence&) {
      if (!run_.survives()) control_.fail(std::current_exception(), StopReason::diverged);
    } catch (
        const std::bad_alloc&) {  // anywhere in a step: what was counted may not have been sent
      control_.fail(std::current_exception());
      throw;
    } catch (...) {
      control_.fail(std::current_exception());
      if (endpoint_.has_lost()) throw;
    }
    return false;
  }

  bool finished() const {
    return control_.abandoned() || (announced_ && endpoint_.announced_total() == run_.worker().t());
  }

  void record(const StepReport& report) {
    status_.applications.fetch_add(report.gradients.size(), std::memory_order_relaxed);
    if (report.kind == StepReport::Kind::computed)
      status_.computed.fetch_add(1, std::memory_order_relaxed);
    run_.record(report, report.start, report.time, trace_ || watch_ ? &lines_ : nullptr);
    observe_model();
    if (report.time - published_ >= publish_every || lines_.size() >= trace_piece)
      publish(report.time, false);
  }

  void observe_model() {
    if (run_.reaches_target()) gate_.reached();
  }

  void rest(const StepReport& report) {
    if (report.kind == StepReport::Kind::out_of_samples && !announced_) {
      endpoint_.announce(run_.worker().computed());
      announced_ = true;
    }
    if (finished()) return;
    publish(endpoint_.now(), false);
    endpoint_.wait(std::chrono::milliseconds(100));
  }

  // Between two steps replica, set and memory belong together.
  void give_snapshot() {
    const Worker<Real>& worker = run_.worker();
    if (!worker.replica().diverged_at() && snapshots_->claim_replica())
      snapshots_->give_replica(std::as_bytes(worker.replica().sums()), worker.applied(),
                               worker.samples());
    snapshots_->give_carry_over(id_, run_.carry_over());
  }

  void publish(Nanoseconds now, bool finished) {
    published_ = now;
    if (watch_) watch_->add(id_, lines_, now);
    if (trace_) trace_->add(id_, std::move(lines_), now);
    lines_.clear();
    WorkerFigures figures = figures_of(run_);
    figures.t = run_.worker().t();
    figures.computed = run_.worker().computed();
    figures.waited = endpoint_.waited();
    figures.out_of_samples = announced_;
    figures.finished = finished;
    status_.publish(figures);
  }

  const WorkerId id_;
  SnapshotBoard* const snapshots_;
  Endpoint& endpoint_;
  Control& control_;
  TraceSink* const trace_;
  ApplicationSink* const watch_;
  Applied* const applied_;
  const Chaos& chaos_;
  TargetGate& gate_;
  const decltype(SharedByLoops<Real>::between_steps) between_steps_;
  WorkerStatus status_;
  ModelBoard<Real> models_;
  RunWorker<Real> run_;
  std::vector<TraceLine> lines_;
  Nanoseconds published_ = 0;
  bool announced_ = false;
};

}  // namespace dasgd
