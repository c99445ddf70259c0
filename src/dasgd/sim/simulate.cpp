#include "dasgd/sim/simulate.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/run/conclude.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/sim/account.hpp"
#include "dasgd/sim/agent.hpp"
#include "dasgd/sim/application_count.hpp"
#include "dasgd/sim/buffers.hpp"
#include "dasgd/sim/ending.hpp"
#include "dasgd/sim/feed.hpp"
#include "dasgd/sim/frame_queue.hpp"
#include "dasgd/sim/network.hpp"
#include "dasgd/sim/observation.hpp"
#include "dasgd/sim/residuals.hpp"
#include "dasgd/sim/step_log.hpp"
#include "dasgd/sim/workers_ahead.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/virtual_time/event_queue.hpp"

namespace dasgd {
namespace {

// Whether nobody sees a worker between applications.
bool has_streaks(const TrainOptions& options, const VirtualWorld& world, RelayMode mode,
                 bool links_fold) {
  return mode != RelayMode::apply && !shows_every_model(options) && world.apply > 0 &&
         !links_fold && world.chaos.pauses.empty() && (!options.figures || mode == RelayMode::none);
}

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
        frame_queue_(world, graph_, mode_, options.seed, options.message, !never_folds(options),
                     queue_),
        budget_(options, objective.samples()),
        buffers_(resolved_in_flight(options, objective.dimension() * sizeof(Number<Real>)),
                 frame_queue_.folds(), agents_),
        judge_(objective, options),
        applied_together_(shows_every_model(options) ? 1 : most_applied_together),
        count_(options.figures, has_streaks(options, world, mode_, frame_queue_.folds()),
               world.apply, agents_),
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
      if (is_of_a_cut_streak(*event)) continue;
      if (options_.stop.stop_requested()) ending_.stop(StopReason::interrupted);
      if (observation_ && !ending_.is_stopping() && observation_->is_due_before(event->time))
        if (observation_->before(event->time, agents_, [this](Nanoseconds time) {
              settle_all(QueuedEvent::last_at(time));
            }))
          ending_.stop(StopReason::target);
      log_figures_before(*event);
      event_ = *event;
      now_ = event->time;
      handle(*event);
      if (ended_before_it_drained()) break;
    }
    settle_all(event_);
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
    catch_up(agent);
    if (agent.no_longer_asks(now_)) return;
    agent.busy = false;
    if (!world_.chaos.pauses.empty())
      if (const auto resumes = world_.chaos.paused_until(agent.id, now_)) {
        agent.busy = true;
        return schedule_look(agent, *resumes);
      }
    if (options_.max_time && now_ >= options_.max_time->count()) ending_.stop(StopReason::max_time);
    if (agent.id == WorkerId{0}) guarded(agent, [&] { evaluate_when_due(agent); });
    if (agent.has_waiting()) return apply_oldest(agent);
    if (!ending_.is_stopping()) draw(agent);
  }

  // Without a sample it is idle until an arrival, of a gradient or of a sample.
  void draw(Agent<Real>& agent) {
    const Draw::Kind kind = feed_.draw(agent.run.samples(), now_);
    if (kind == Draw::Kind::batch) return compute(agent);
    if (kind == Draw::Kind::none_now && agent.asks_later(feed_.next_ask(now_)))
      schedule_look(agent, *agent.asks_at);
  }

  void apply_oldest(Agent<Real>& agent) {
    const Nanoseconds applied = later(now_, world_.apply, "apply");
    agent.busy = true;
    if (is_seen_at_every_look(agent)) {
      begin_oldest(agent);
      return push(applied, EventKind::foreign_finished, agent);
    }
    // Up to the next look of which something may come.
    agent.streak = Streak::of(agent.id, now_, world_.apply, agent.inbox.size());
    if (options_.max_time && !ending_.is_stopping())
      agent.streak.end_with_the_first_after(options_.max_time->count());
    catch_up(agent);
    schedule_look(agent, agent.streak.end());
  }
  void begin_oldest(Agent<Real>& agent) {
    if (agent.take_oldest()) {
      agent.passed_on = mode_ != RelayMode::apply;
      buffers_.give_back(agent.applies.parcel);
    }
    agent.use.busy += world_.apply;
  }
  bool is_seen_at_every_look(const Agent<Real>& agent) const {
    const bool is_evaluated = agent.id == WorkerId{0} && options_.evaluation.every.count() > 0;
    return !count_.has_streaks() || agent.folded || is_evaluated;
  }
  // Its streak goes on until this event has been handled.
  void catch_up(Agent<Real>& agent, const QueuedEvent& event) {
    const Streak::Passed passed = agent.streak.pass(event);
    if (passed.ends_first) complete_one(agent, passed.time);
    if (passed.at_once > 0) apply_at_once(agent, passed.at_once, passed.time);
    if (passed.begins_another) begin_oldest(agent);
  }
  void catch_up(Agent<Real>& agent) { catch_up(agent, event_); }
  // Applications that begin and are complete before anybody looks; the last one at this time.
  void apply_at_once(Agent<Real>& agent, std::size_t count, Nanoseconds time) {
    agent.applied_at = time;
    auto& arrived = agent.channel.arrived.gradients;
    for (std::size_t left = count; left > 0; --left) {
      Parcel& oldest = agent.inbox.front().parcel;
      buffers_.give_back(oldest);
      arrived.push_back(std::move(oldest.gradient));
      agent.inbox.drop_front();
      if (arrived.size() >= applied_together_) settle(agent);
    }
    agent.inbox_depth -= count;
    agent.use.busy += world_.apply * static_cast<Nanoseconds>(count);
    took_note_of(count);
  }
  void took_note_of(std::size_t applications) {
    count_.add(applications);
    ending_.worked(applications);
  }

  void compute(Agent<Real>& agent) {
    if (buffers_.are_taken(agent)) make_room_for(agent);
    const Nanoseconds computed = agent.computed_at(world_.compute, options_.seed, now_);
    const Nanoseconds applied = later(computed, world_.apply, "apply");
    begin(agent, applied);
    push(applied, EventKind::own_finished, agent);
  }

  // What a real worker does whose buffers are all on their way.
  void make_room_for(Agent<Real>& agent) {
    for (const auto& other : agents_) catch_up(*other);
    if (!buffers_.are_taken(agent)) return;
    for (const auto& other : agents_)
      if (other->has_waiting_of(agent.id)) fold_inbox(*other);
  }

  // What is being applied was here before: it is passed on first, so that links keep their order.
  void fold_inbox(Agent<Real>& agent) {
    pass_on(agent);
    cut_streak(agent);
    if (!agent.folded) agent.folded = std::make_shared<Bundle>();
    for (const Waiting& waiting : std::exchange(agent.inbox, {})) {
      if (waiting.parcel.bundle)
        agent.folded->add(*waiting.parcel.bundle);
      else
        agent.folded->add(std::span(&waiting.parcel.gradient, 1));
      buffers_.give_back(waiting.parcel);
      if (mode_ == RelayMode::apply) transmit(agent, waiting.parcel, waiting.from);
    }
  }

  void cut_streak(Agent<Real>& agent) {
    if (agent.streak.is_over()) return;
    const Nanoseconds end = agent.streak.end();
    agent.streak.cut_after(event_);
    if (agent.streak.end() == end) return;
    agent.cut_looks.push_back(end);
    schedule_look(agent, agent.streak.end());
  }
  // Then it is not an event: what it was to end has ended before, and the run may have.
  bool is_of_a_cut_streak(const QueuedEvent& event) {
    return event.kind() == EventKind::look &&
           agents_[event.subject]->is_of_a_cut_streak(event.time);
  }

  // When a worker looks, its replica is what it is at this instant.
  void evaluate_when_due(Agent<Real>& agent) {
    const Nanoseconds every = options_.evaluation.every.count();
    if (every == 0 || ending_.is_stopping() || now_ < next_evaluation_) return;
    next_evaluation_ = later(now_ - now_ % every, every, "eval-every");
    if (now_ == 0) return;
    settle(agent);
    judge_.evaluate(agent.run.worker().replica().x(), static_cast<double>(now_) * 1e-9);
    if (const auto reason = judge_.verdict()) ending_.stop(*reason);
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
    agent.begin_step(ahead_);
  }

  void finish_own(Agent<Real>& agent) {
    agent.before.clear();
    if (guarded(agent, [&] { agent.end_step(); })) {
      ++agent.computed;
      const GradientPtr own = std::exchange(agent.channel.sent, nullptr);
      buffers_.take(agent, *own);
      if (residuals_) residuals_->applied(agent.id, own);
      guarded(agent, [&] { record(agent, agent.report, now_); });
      count_.add(1);
      count(1);
      transmit(agent, own, agent.id);
    }
    schedule_look(agent, now_);
  }

  void finish_foreign(Agent<Real>& agent) {
    pass_on(agent);
    const std::size_t applied = agent.applies.parcel.size();
    complete_one(agent, now_);
    count(applied);
    schedule_look(agent, now_);
  }
  void complete_one(Agent<Real>& agent, Nanoseconds time) {
    const Parcel& applied = agent.applies.parcel;
    took_note_of(applied.size());
    if (residuals_) residuals_->applied(agent.id, applied.gradient);
    if (applied.bundle) settle(agent);
    agent.complete(time);
    const Received& arrived = agent.channel.arrived;
    if (arrived.bundle || arrived.gradients.size() >= applied_together_) settle(agent);
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
  void settle_all(const QueuedEvent& after) {
    for (const auto& agent : agents_) {
      catch_up(*agent, after);
      settle(*agent);
    }
  }

  // A failure ends the run, which is still drained. False if the action failed.
  template <typename Action>
  bool guarded(Agent<Real>& agent, Action&& action) {
    try {
      action();
      return true;
    } catch (const Divergence&) {
      if (!agent.run.survives()) ending_.fail(std::current_exception(), StopReason::diverged);
    } catch (...) {
      ending_.fail(std::current_exception(), StopReason::failed);
    }
    return false;
  }

  void record(Agent<Real>& agent, const StepReport& report, Nanoseconds time) {
    steps_.add(agent, report, time);
    observe_model(agent);
    agent.run.worker().release_applied();
    if (steps_.is_full()) flush_trace();
  }

  void count(std::size_t applications) {
    count_.add_by_event(applications);
    if (count_.wants_figures_after(event_)) log_figures(event_);
  }
  void log_figures_before(const QueuedEvent& next) {
    if (!count_.has_streaks()) return;
    while (count_.wants_figures_after(next)) {
      const QueuedEvent due = count_.due_between(event_, next);
      now_ = due.time;
      log_figures(due);
    }
  }
  void log_figures(const QueuedEvent& after) {
    settle_all(after);
    log_figures();
  }
  void log_figures() { feed_.log(figures_of(agents_, now_, count_.total()), steps_.sum_S()); }

  void observe_model(Agent<Real>& agent) {
    if (agent.run.reaches_target()) ending_.target_reached(agents_.size());
  }

  void transmit(Agent<Real>& agent, const Parcel& parcel, WorkerId source) {
    if (source == agent.id && relayed()) agent.relay.is_first_copy(parcel.gradient->name);
    frame_queue_.send(agent.id, parcel, source, now_);
  }

  void deliver(Agent<Real>& agent, const Parcel& parcel, WorkerId from) {
    ending_.worked(1);
    if (observation_) agent.use.received += frame_queue_.bytes_of(parcel);
    if (relayed() && !agent.relay.is_first_copy(parcel)) return;
    agent.receive(parcel, from);
    if (frame_queue_.folds() && buffers_.are_fewer_than(agent.inbox.size())) fold_inbox(agent);
    if (mode_ == RelayMode::arrival) transmit(agent, parcel, from);
    if (agent.busy) return;
    agent.busy = true;
    agent.asks = false;
    schedule_look(agent, now_);
  }
  /// Whether a second copy of a gradient can arrive.
  bool relayed() const { return mode_ != RelayMode::none || world_.chaos.duplicate > 0; }

  // What is under way comes too late for an observer, or is more than an interrupt waits for.
  bool ended_before_it_drained() const {
    if (ahead_.running()) return false;
    if (observation_ && (ending_.reason() == StopReason::max_time || observation_->ends_at_once()))
      return true;
    return ending_.is_given_up();
  }

  void flush_trace() {
    if (const auto failure = steps_.flush(now_)) ending_.fail(failure, StopReason::failed);
  }

  TrainResult<Real> conclude() {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    auto result = dasgd::conclude<Real>(objective_, options_, reports_of(agents_),
                                        agents_.front()->run.worker(),
                                        {.seconds = static_cast<double>(now_) * 1e-9,
                                         .simulated_in = took.count(),
                                         .reason = ending_.reason(),
                                         .failure = ending_.failure(),
                                         .good = good_,
                                         .judge = judge_,
                                         .compared = !ended_before_it_drained()});
    if (ended_before_it_drained()) result.failure = ending_.failure();
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
  Ending ending_;
  // Samples are drawn by steps that other cores make; a stop in between must not reach them.
  const std::atomic<bool> samples_never_stop_{false};
  SharedBudget budget_;
  GoodModel<Real> good_;
  Agents<Real> agents_;
  SimulatedBuffers<Real> buffers_;
  Judge<Real> judge_;
  Nanoseconds next_evaluation_ = 0;
  const std::size_t applied_together_;  // unless everybody's model is seen after each
  ApplicationCount<Real> count_;
  WorkersAhead ahead_;
  QueuedEvent event_;  // that is being handled
  Nanoseconds now_ = 0;
  std::optional<ResidualMeter<Real>> residuals_;
  std::optional<Observation<Real>> observation_;
  StepLog steps_{options_.trace};
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
