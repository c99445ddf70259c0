// What one worker's thread does: step until everything is computed, announced and applied.
#pragma once

#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "dasgd/core/worker.hpp"
#include "dasgd/data/batches.hpp"
#include "dasgd/runtime/budget.hpp"
#include "dasgd/runtime/control.hpp"
#include "dasgd/runtime/options.hpp"
#include "dasgd/runtime/paced.hpp"
#include "dasgd/runtime/target.hpp"
#include "dasgd/runtime/worker_status.hpp"
#include "dasgd/staleness/ledger.hpp"
#include "dasgd/transport/endpoint.hpp"

namespace dasgd {

/// One worker with its samples, rule, ledger and status. `run` is the body of its thread;
/// everything else but the status is to be read when that thread has ended.
template <typename Real>
class WorkerLoop {
 public:
  WorkerLoop(WorkerId id, const Objective<Real>& objective, const TrainOptions& options,
             std::size_t batch, double slow_factor, Endpoint& endpoint, Control& control,
             TargetGate& gate)
      : id_(id),
        endpoint_(endpoint),
        control_(control),
        trace_(options.trace),
        samples_(make_samples(objective, options, batch)),
        paced_(objective, slow_factor, options.compute, control),
        rule_(options.eta),
        target_(objective, options, gate),
        ledger_(options.workers),
        worker_(id, slow_factor > 1 || options.compute.count() > 0 ? paced_ : objective, rule_,
                samples_, endpoint, target_.watches_models() ? 1 : max_fused) {}

  void run() {
    if (samples_.limit() == 0) target_.exempt_from_loss();
    guarded([&] { observe_model(); });
    while (!finished()) {
      if (status_.model_wanted()) status_.publish_model(worker_.replica().x());
      StepReport report{.step = worker_.t()};
      guarded([&] { report = worker_.step(); });
      if (report.gradients.empty()) {
        rest(report);
      } else {
        guarded([&] { account(report); });
      }
    }
    publish(endpoint_.now(), true);
    control_.worker_finished();
  }

  const Worker<Real>& worker() const { return worker_; }
  const Ledger& ledger() const { return ledger_; }
  const TargetTracker<Real>& target() const { return target_; }
  std::uint32_t limit() const { return samples_.limit(); }
  std::uint64_t samples() const { return samples_.samples(); }
  Nanoseconds last_time() const { return last_time_; }
  WorkerStatus<Real>& status() { return status_; }
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  static constexpr Nanoseconds publish_every = 20'000'000;
  static constexpr std::size_t trace_piece = 512;

  BudgetedBatches make_samples(const Objective<Real>& objective, const TrainOptions& options,
                               std::size_t batch) const {
    Batches batches(options.seed, id_, options.workers, objective.samples(), batch);
    const std::size_t per_epoch = batches.per_epoch();
    const auto limit = per_epoch == 0 ? 0 : gradient_limit(options, id_, per_epoch, batch > 0);
    return {std::move(batches), limit, control_};
  }

  // A failure ends the run but not this thread: what others sent is still applied and passed on, so
  // that every replica ends whole.
  template <typename Action>
  void guarded(Action&& action) {
    try {
      action();
    } catch (const DivergenceError&) {
      control_.fail(std::current_exception(), "diverged");
    } catch (...) {
      control_.fail(std::current_exception(), "failed");
    }
  }

  bool finished() const { return announced_ && endpoint_.announced_total() == worker_.t(); }

  void account(const StepReport& report) {
    const bool own = report.kind == StepReport::Kind::computed;
    for (std::size_t k = 0; k < report.gradients.size(); ++k) {
      const Gradient& gradient = *report.gradients[k];
      const Staleness staleness = ledger_.record(gradient);
      if (trace_)
        lines_.push_back({id_, report.step + k, gradient.name, gradient.origin_step, report.time,
                          own ? std::optional(report.start) : std::nullopt, staleness.S,
                          staleness.S_hat});
    }
    last_time_ = report.time;
    if (own) target_.observe_loss(report.loss);
    status_.applications.fetch_add(report.gradients.size(), std::memory_order_relaxed);
    observe_model();
    if (report.time - published_ >= publish_every || lines_.size() >= trace_piece)
      publish(report.time, false);
  }

  void observe_model() {
    if (target_.watches_models()) target_.observe_model(worker_.replica().x());
    target_.settle(worker_.t(), last_time_);
  }

  void rest(const StepReport& report) {
    if (report.kind == StepReport::Kind::out_of_samples && !announced_) {
      endpoint_.announce(worker_.computed());
      announced_ = true;
    }
    if (finished()) return;
    publish(endpoint_.now(), false);
    endpoint_.wait(std::chrono::milliseconds(100));
  }

  void publish(Nanoseconds now, bool finished) {
    published_ = now;
    if (trace_) trace_->add(id_, std::exchange(lines_, {}), now);
    status_.publish({worker_.t(), worker_.computed(), samples_.samples(), target_.recent_loss(),
                     ledger_.S(), announced_, finished});
  }

  const WorkerId id_;
  Endpoint& endpoint_;
  Control& control_;
  TraceWriter* const trace_;
  BudgetedBatches samples_;
  Paced<Real> paced_;
  FixedStep<Real> rule_;
  TargetTracker<Real> target_;
  Ledger ledger_;
  WorkerStatus<Real> status_;
  Worker<Real> worker_;
  std::vector<TraceLine> lines_;
  Nanoseconds last_time_ = 0;
  Nanoseconds published_ = 0;
  bool announced_ = false;
};

}  // namespace dasgd
