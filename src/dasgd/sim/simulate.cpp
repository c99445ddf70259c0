#include "dasgd/sim/simulate.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/run/conclude.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/sim/account.hpp"
#include "dasgd/sim/agent.hpp"
#include "dasgd/sim/feed.hpp"
#include "dasgd/sim/frame_queue.hpp"
#include "dasgd/sim/network.hpp"
#include "dasgd/sim/observation.hpp"
#include "dasgd/sim/residuals.hpp"
#include "dasgd/sim/workers_ahead.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/virtual_time/event_queue.hpp"

namespace dasgd {
namespace {

template <typename Real>
class Simulation {
 public:
  Simulation(const Objective<Real>& objective, const TrainOptions& options,
             const VirtualWorld& world, const Observer<Real>* observer, Feed& feed)
      : objective_(objective),
        options_(options),
        feed_(feed),
        world_(world),
        graph_(graph_of(options)),
        mode_(relay_of(options, graph_)),
        frame_queue_(world, graph_, mode_, options.seed, options.message, queue_),
        in_flight_limit_(resolved_in_flight(options, objective.dimension() * sizeof(Number<Real>))),
        budget_(options, objective.samples()),
        judge_(objective, options),
        applied_together_(shows_every_model(options) ? 1 : most_applied_together),
        ahead_(world.threads) {
    validate(world, graph_);
    require_delivery(graph_, mode_);
    const bool exact_sets = options.workers <= workers_with_exact_sets ||
                            !delivery_is_causal(world, graph_, mode_ != RelayMode::none);
    for (std::size_t i = 0; i < options.workers; ++i)
      agents_.push_back(std::make_unique<Agent<Real>>(
          worker_id(i), objective, options, graph_, mode_, exact_sets, frame_queue_,
          SharedByWorkers<Real>{budget_, good_, samples_never_stop_, observer != nullptr}));
    if (observer) observation_.emplace(*observer);
    if (options.measure_gradients) residuals_.emplace(options.workers, objective.dimension());
  }

  TrainResult<Real> run() {
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      guarded(*agents_[i], [&] { observe_model(*agents_[i]); });
      schedule_look(*agents_[i], world_.start.empty() ? 0 : world_.start[i]);
    }
    while (const auto event = queue_.pop()) {
      if (options_.stop.stop_requested()) stop(StopReason::interrupted);
      if (stopped_) ++events_since_stop_;
      if (observation_ && !stopped_ && observation_->is_due_before(event->time)) {
        settle_all();
        if (observation_->before(event->time, agents_)) stop(StopReason::target);
      }
      now_ = event->time;
      handle(*event);
      if (ended_before_it_drained()) break;
    }
    settle_all();
    if (observation_ && !ended_before_it_drained()) observation_->at_the_end(now_, agents_);
    flush_trace();
    if (options_.figures) log_figures();
    return conclude();
  }

 private:
  using Waiting = typename Agent<Real>::Waiting;

  void handle(const QueuedEvent& event) {
    switch (event.kind()) {
      case EventKind::own_finished:
        return finish_own(*agents_[event.subject]);
      case EventKind::foreign_finished:
        return finish_foreign(*agents_[event.subject]);
      case EventKind::arrival:
        return frame_queue_.arrive(event.subject,
                                   [this](WorkerId to, const Parcel& parcel, WorkerId from) {
                                     deliver(*agents_[index(to)], parcel, from);
                                   });
      case EventKind::link_free:
        return frame_queue_.pump(worker_id(event.subject), now_);
      case EventKind::look:
        return look(*agents_[event.subject]);
    }
  }

  void schedule_look(Agent<Real>& agent, Nanoseconds time) { push(time, EventKind::look, agent); }
  void push(Nanoseconds time, EventKind kind, const Agent<Real>& agent) {
    const auto i = static_cast<std::uint32_t>(agent.id);
    queue_.push(QueuedEvent::make(time, kind, i, i));
  }

  // The worker looks into its inbox: apply the oldest arrival, else compute, else be idle.
  void look(Agent<Real>& agent) {
    if (agent.no_longer_asks(now_)) return;
    agent.busy = false;
    if (!world_.chaos.pauses.empty())
      if (const auto resumes = world_.chaos.paused_until(agent.id, now_)) {
        agent.busy = true;
        return schedule_look(agent, *resumes);
      }
    if (options_.max_time && now_ >= options_.max_time->count()) stop(StopReason::max_time);
    if (agent.id == WorkerId{0}) guarded(agent, [&] { evaluate_when_due(agent); });
    if (agent.has_waiting()) return apply_oldest(agent);
    if (!stopped_) draw(agent);
  }

  // Without a sample it is idle until an arrival, of a gradient or of a sample.
  void draw(Agent<Real>& agent) {
    const Draw::Kind kind = feed_.draw(agent.run.samples(), now_);
    if (kind == Draw::Kind::batch) return compute(agent);
    if (kind == Draw::Kind::none_now && agent.asks_later(feed_.next_ask(now_)))
      schedule_look(agent, *agent.asks_at);
  }

  void apply_oldest(Agent<Real>& agent) {
    if (agent.take_oldest()) {
      agent.passed_on = mode_ != RelayMode::apply;
      release_parcel(agent.applies.parcel);
    }
    const Nanoseconds applied = later(now_, world_.apply, "apply");
    agent.busy = true;
    agent.use.busy += applied - now_;
    push(applied, EventKind::foreign_finished, agent);
  }

  void compute(Agent<Real>& agent) {
    if (agent.gradients_in_flight.count() >= in_flight_limit_) fold_what_waits_of(agent.id);
    const Nanoseconds computed = agent.computed_at(world_.compute, options_.seed, now_);
    const Nanoseconds applied = later(computed, world_.apply, "apply");
    begin(agent, applied);
    push(applied, EventKind::own_finished, agent);
  }

  // What a real worker does whose buffers are all on their way.
  void fold_what_waits_of(WorkerId origin) {
    for (const auto& other : agents_)
      if (other->has_waiting_of(origin)) fold_inbox(*other);
  }

  // What is being applied was here before: it is passed on first, so that links keep their order.
  void fold_inbox(Agent<Real>& agent) {
    pass_on(agent);
    if (!agent.folded) agent.folded = std::make_shared<Bundle>();
    for (const Waiting& waiting : std::exchange(agent.inbox, {})) {
      if (waiting.parcel.bundle)
        agent.folded->add(*waiting.parcel.bundle);
      else
        agent.folded->add(std::span(&waiting.parcel.gradient, 1));
      release_parcel(waiting.parcel);
      if (mode_ == RelayMode::apply) transmit(agent, waiting.parcel, waiting.from);
    }
  }

  // Where links fold, buffers are free at once.
  void release_parcel(const Parcel& parcel) {
    if (frame_queue_.folds()) return;
    const GradientName name = parcel.gradient->name;
    agents_[index(name.origin)]->gradients_in_flight.receiver_released(name.sequence);
  }

  // When a worker looks, its replica is what it is at this instant.
  void evaluate_when_due(Agent<Real>& agent) {
    const Nanoseconds every = options_.evaluation.every.count();
    if (every == 0 || stopped_ || now_ < next_evaluation_) return;
    next_evaluation_ = later(now_ - now_ % every, every, "eval-every");
    if (now_ == 0) return;
    settle(agent);
    judge_.evaluate(agent.run.worker().replica().x(), static_cast<double>(now_) * 1e-9);
    if (const auto reason = judge_.verdict()) stop(*reason);
  }

  // While a worker computes its replica cannot change, so the step is made at once, or by another
  // core.
  void begin(Agent<Real>& agent, Nanoseconds until) {
    settle(agent);
    guarded(agent, [&] { feed_.test(objective_, agent.run); });
    agent.busy = true;
    agent.began = now_;
    agent.use.busy += until - now_;
    if (observation_) observation_->begins(agent, until);
    if (ahead_.running()) {
      agent.ahead = ahead_.run([&agent] { return agent.run.worker().step(); });
      return;
    }
    try {
      agent.report = agent.run.worker().step();
    } catch (...) {
      agent.failure = std::current_exception();
    }
  }

  void finish_own(Agent<Real>& agent) {
    agent.before.clear();
    const bool made = guarded(agent, [&] {
      if (agent.ahead.valid()) agent.report = agent.ahead.get();
      if (agent.failure) std::rethrow_exception(std::exchange(agent.failure, nullptr));
    });
    if (made) {
      ++agent.computed;
      const GradientPtr own = std::exchange(agent.channel.sent, nullptr);
      if (!frame_queue_.folds())
        agent.gradients_in_flight.send(static_cast<std::uint32_t>(agents_.size() - 1));
      if (residuals_) residuals_->applied(agent.id, own);
      guarded(agent, [&] { record(agent, agent.report, now_); });
      count(1);
      transmit(agent, own, agent.id);
    }
    schedule_look(agent, now_);
  }

  void finish_foreign(Agent<Real>& agent) {
    pass_on(agent);
    const Parcel& applied = agent.applies.parcel;
    const std::size_t gradients = applied.size();
    if (residuals_) residuals_->applied(agent.id, applied.gradient);
    if (applied.bundle) settle(agent);
    agent.complete(now_);
    const Received& arrived = agent.channel.arrived;
    if (arrived.bundle || arrived.gradients.size() >= applied_together_) settle(agent);
    count(gradients);
    schedule_look(agent, now_);
  }

  // With relay on application, what is complete, or was there before what is folded.
  void pass_on(Agent<Real>& agent) {
    if (!std::exchange(agent.passed_on, true))
      transmit(agent, agent.applies.parcel, agent.applies.from);
  }

  // Foreign gradients change a worker when somebody is about to see it: several in one pass. One
  // whose step another core is making has none: it was settled before.
  void settle(Agent<Real>& agent) {
    if (agent.ahead.valid() || agent.channel.arrived.empty()) return;
    guarded(agent, [&] { record(agent, agent.run.worker().step(), agent.applied_at); });
  }
  void settle_all() {
    for (const auto& agent : agents_) settle(*agent);
  }

  // A failure ends the run, which is still drained. False if the action failed.
  template <typename Action>
  bool guarded(Agent<Real>& agent, Action&& action) {
    try {
      action();
      return true;
    } catch (const Divergence&) {
      if (!agent.run.survives()) fail(std::current_exception(), StopReason::diverged);
    } catch (...) {
      fail(std::current_exception(), StopReason::failed);
    }
    return false;
  }

  void record(Agent<Real>& agent, const StepReport& report, Nanoseconds time) {
    const double sum_before = static_cast<double>(agent.run.S().sum);
    agent.run.record(report, agent.began, time, options_.trace ? &lines_ : nullptr);
    sum_S_ += static_cast<double>(agent.run.S().sum) - sum_before;
    observe_model(agent);
    agent.run.worker().release_applied();
    if (lines_.size() >= 4096) flush_trace();
  }

  void count(std::size_t applications) {
    applications_ += applications;
    if (!options_.figures || !options_.figures->wants(applications_)) return;
    settle_all();
    log_figures();
  }

  void log_figures() { feed_.log(figures_of(agents_, now_, applications_), sum_S_); }

  void observe_model(Agent<Real>& agent) {
    if (agent.run.reaches_target() && ++reached_ == agents_.size()) stop(StopReason::target);
  }

  void transmit(Agent<Real>& agent, const Parcel& parcel, WorkerId source) {
    if (source == agent.id && relayed()) agent.relay.is_first_copy(parcel.gradient->name);
    frame_queue_.send(agent.id, parcel, source, now_);
  }

  void deliver(Agent<Real>& agent, const Parcel& parcel, WorkerId from) {
    if (observation_) agent.use.received += frame_queue_.bytes_of(parcel);
    if (relayed() && !agent.relay.is_first_copy(parcel)) return;
    agent.inbox.push_back({parcel, from});
    if (frame_queue_.folds() && agent.inbox.size() > in_flight_limit_) fold_inbox(agent);
    if (mode_ == RelayMode::arrival) transmit(agent, parcel, from);
    if (agent.busy) return;
    agent.busy = true;
    agent.asks = false;
    schedule_look(agent, now_);
  }
  /// Whether a second copy of a gradient can arrive.
  bool relayed() const { return mode_ != RelayMode::none || world_.chaos.duplicate > 0; }

  void stop(StopReason reason) {
    if (!std::exchange(stopped_, true)) reason_ = reason;
  }
  // What is under way comes too late for an observer, or is more than an interrupt waits for.
  bool ended_before_it_drained() const {
    if (ahead_.running()) return false;
    if (observation_ && (reason_ == StopReason::max_time || observation_->ends_at_once()))
      return true;
    return reason_ == StopReason::interrupted && events_since_stop_ >= most_after_an_interrupt;
  }
  void fail(std::exception_ptr failure, StopReason reason) {
    if (!failure_) failure_ = failure;
    stop(reason);
  }

  void flush_trace() {
    if (!options_.trace) return;
    options_.trace->add(WorkerId{0}, std::exchange(lines_, {}), now_);
    for (std::size_t i = 1; i < options_.trace->sources(); ++i)
      options_.trace->add(worker_id(i), {}, now_);
    if (const auto failure = options_.trace->failure()) fail(failure, StopReason::failed);
  }

  TrainResult<Real> conclude() {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    auto result = dasgd::conclude<Real>(objective_, options_, reports_of(agents_),
                                        agents_.front()->run.worker(),
                                        {.seconds = static_cast<double>(now_) * 1e-9,
                                         .simulated_in = took.count(),
                                         .reason = reason_,
                                         .failure = failure_,
                                         .good = good_,
                                         .judge = judge_,
                                         .compared = !ended_before_it_drained()});
    if (ended_before_it_drained()) result.failure = failure_;
    feed_.conclude(now_, result.summary);
    if (residuals_)
      account_for(*residuals_, agents_, options_, objective_.samples(), result.summary);
    return result;
  }

  const Objective<Real>& objective_;
  const TrainOptions& options_;
  Feed& feed_;
  const VirtualWorld& world_;
  const Graph graph_;
  const RelayMode mode_;
  EventQueue queue_;
  FrameQueue frame_queue_;
  const std::size_t in_flight_limit_;
  bool stopped_ = false;
  // Samples are drawn by steps that other cores make; a stop in between must not reach them.
  const std::atomic<bool> samples_never_stop_{false};
  SharedBudget budget_;
  GoodModel<Real> good_;
  Agents<Real> agents_;
  Judge<Real> judge_;
  Nanoseconds next_evaluation_ = 0;
  const std::size_t applied_together_;  // unless everybody's model is seen after each
  WorkersAhead ahead_;
  Nanoseconds now_ = 0;
  std::uint64_t events_since_stop_ = 0;
  std::size_t reached_ = 0;
  std::uint64_t applications_ = 0;
  double sum_S_ = 0;  // of all applications
  std::optional<ResidualMeter<Real>> residuals_;
  std::optional<Observation<Real>> observation_;
  std::optional<StopReason> reason_;
  std::exception_ptr failure_;
  std::vector<TraceLine> lines_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

template <typename Real>
TrainResult<Real> run_simulation(const Objective<Real>& objective, const TrainOptions& options,
                                 const VirtualWorld& world, const Observer<Real>* observer) {
  require_runnable(options, objective);
  const TrainOptions chosen = with_links(objective, options, world);
  Feed feed(chosen, world, objective.samples());
  return Simulation<Real>(objective, feed.options(), world, observer, feed).run();
}

template TrainResult<float> run_simulation(const Objective<float>&, const TrainOptions&,
                                           const VirtualWorld&, const Observer<float>*);
template TrainResult<double> run_simulation(const Objective<double>&, const TrainOptions&,
                                            const VirtualWorld&, const Observer<double>*);

}  // namespace dasgd
