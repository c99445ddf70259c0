#include "dasgd/sim/simulate.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/plan/judge.hpp"
#include "dasgd/sim/agent.hpp"
#include "dasgd/sim/event_queue.hpp"
#include "dasgd/sim/links.hpp"
#include "dasgd/sim/residuals.hpp"
#include "dasgd/sim/workers_ahead.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd {
namespace {

/// How many workers a run may have for the exact sets, and with them W, to be kept although
/// delivery is causal and t - s would do.
constexpr std::size_t workers_with_certificate = 64;

template <typename Real>
class Simulation {
 public:
  Simulation(const Objective<Real>& objective, const TrainOptions& options,
             const VirtualWorld& world)
      : objective_(objective),
        options_(options),
        world_(world),
        graph_(build_graph(options.topology, options.workers, options.seed)),
        mode_(options.relay.value_or(default_relay(graph_))),
        links_(world, graph_, options.seed),
        judge_(objective, options),
        ahead_(world.threads) {
    validate(world, graph_);
    require_delivery(graph_, mode_);
    const bool exact_sets = options.workers <= workers_with_certificate ||
                            !delivery_is_causal(world, graph_, mode_ != RelayMode::none);
    const std::size_t batch = resolved_batch(options, objective.samples());
    for (std::size_t i = 0; i < options.workers; ++i)
      agents_.push_back(std::make_unique<Agent<Real>>(worker_id(i), objective, options, batch,
                                                      graph_, mode_, exact_sets,
                                                      samples_never_stop_, good_));
    if (options.measure_gradients) residuals_.emplace(options.workers, objective.dimension());
  }

  TrainResult<Real> run() {
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      if (agents_[i]->samples.limit() == 0) agents_[i]->target.exempt_from_loss();
      observe_model(*agents_[i]);
      schedule_look(*agents_[i], world_.start.empty() ? 0 : world_.start[i]);
    }
    for (std::uint32_t events = 0; const auto event = queue_.pop(); ++events) {
      if (events % 1024 == 0 && options_.stop.stop_requested()) stop("interrupted");
      now_ = event->time;
      handle(*event);
    }
    flush_trace();
    if (options_.figures) log_figures();
    return conclude();
  }

 private:
  struct InFlight {
    GradientPtr gradient;
    WorkerId from{}, source{};          // the sender, and the neighbour the sender had it from
    std::optional<std::size_t> target;  // nothing: all neighbours of the sender but `source`
  };

  void handle(const Event& event) {
    switch (event.kind()) {
      case EventKind::own_finished:
        return finish_own(*agents_[event.subject]);
      case EventKind::foreign_finished:
        return finish_foreign(*agents_[event.subject]);
      case EventKind::arrival:
        return arrive(event.subject);
      case EventKind::look:
        return look(*agents_[event.subject]);
    }
  }

  void schedule_look(Agent<Real>& agent, Nanoseconds time) { push(time, EventKind::look, agent); }
  void push(Nanoseconds time, EventKind kind, const Agent<Real>& agent) {
    const auto i = static_cast<std::uint32_t>(agent.id);
    queue_.push(Event::make(time, kind, i, i));
  }

  // The worker looks into its inbox: apply the oldest arrival, else compute, else be idle.
  void look(Agent<Real>& agent) {
    agent.busy = false;
    if (const auto resumes = world_.chaos.paused_until(agent.id, now_)) {
      agent.busy = true;
      return schedule_look(agent, *resumes);
    }
    if (options_.max_time && now_ >= options_.max_time->count()) stop("max-time");
    if (agent.id == WorkerId{0}) evaluate_when_due(agent);
    if (!agent.inbox.empty()) {
      agent.received_from = agent.inbox.front().from;
      agent.channel.to_apply = std::move(agent.inbox.front().gradient);
      agent.inbox.pop_front();
      begin(agent, false);
      push(now_ + world_.apply, EventKind::foreign_finished, agent);
    } else if (!stopped_ && agent.samples.has_next()) {
      const auto drawn = world_.compute.draw(options_.seed, Purpose::compute_time, index(agent.id),
                                             agent.worker.computed());
      const auto compute =
          agent.slow == 1 ? drawn : std::llround(static_cast<double>(drawn) * agent.slow);
      begin(agent, true);
      push(now_ + compute + world_.apply, EventKind::own_finished, agent);
    }
  }

  // When a worker looks, its replica is what it is at this instant.
  void evaluate_when_due(Agent<Real>& agent) {
    const Nanoseconds every = options_.evaluation.every.count();
    if (every == 0 || stopped_ || now_ < next_evaluation_) return;
    next_evaluation_ = (now_ / every + 1) * every;
    if (now_ == 0) return;
    judge_.look(agent.worker.replica().x(), static_cast<double>(now_) * 1e-9);
    if (const std::string reason = judge_.verdict(); !reason.empty()) stop(reason);
  }

  // While a worker is busy its replica cannot change, so the step is made at once, or by another
  // core.
  void begin(Agent<Real>& agent, bool computes) {
    agent.busy = true;
    agent.began = now_;
    if (computes && ahead_.running()) {
      agent.ahead = ahead_.run([&agent] { return agent.worker.step(); });
      return;
    }
    try {
      agent.report = agent.worker.step();
    } catch (...) {
      agent.failure = std::current_exception();
    }
  }

  void finish_own(Agent<Real>& agent) {
    if (agent.ahead.valid()) {
      try {
        agent.report = agent.ahead.get();
      } catch (...) {
        agent.failure = std::current_exception();
      }
    }
    if (agent.failure) {
      if (!survives(agent)) fail(agent.failure);
      agent.failure = nullptr;
    } else {
      record(agent, true);
      transmit(agent, std::exchange(agent.channel.sent, nullptr), agent.id);
    }
    schedule_look(agent, now_);
  }

  static bool survives(Agent<Real>& agent) {
    try {
      std::rethrow_exception(agent.failure);
    } catch (const Divergence&) {
      return agent.guard.survives();
    } catch (...) {
      return false;
    }
  }

  void finish_foreign(Agent<Real>& agent) {
    record(agent, false);
    if (mode_ == RelayMode::apply)
      transmit(agent, agent.report.gradients.front(), agent.received_from);
    schedule_look(agent, now_);
  }

  void record(Agent<Real>& agent, bool own) {
    const Gradient& gradient = *agent.report.gradients.front();
    const Staleness staleness = agent.account(gradient, agent.report.step);
    agent.last_time = now_;
    if (residuals_) residuals_->applied(agent.id, agent.report.gradients.front());
    if (own) {
      observe_loss(agent);
      ++agent.made;
      agent.samples_used = agent.samples.samples();
    }
    observe_model(agent);
    ++applications_;
    sum_S_ += static_cast<double>(staleness.S);
    if (options_.figures && options_.figures->wants(applications_)) log_figures();
    if (!options_.trace) return;
    lines_.push_back({agent.id, agent.report.step, gradient.name, gradient.origin_step, now_,
                      own ? std::optional(agent.began) : std::nullopt, staleness.S,
                      staleness.S_hat});
    if (lines_.size() >= 4096) flush_trace();
  }

  void log_figures() {
    RunFigures figures{.seconds = static_cast<double>(now_) * 1e-9, .applications = applications_};
    double loss = 0, losses = 0;
    for (const auto& agent : agents_) {
      const StalenessStatistics& S = agent->ledger ? agent->ledger->S() : agent->S;
      figures.gradients += agent->made;
      figures.samples += agent->samples_used;
      figures.S_avg = std::max(figures.S_avg, S.mean());
      figures.S_max = std::max(figures.S_max, S.max);
      figures.inbox_depth = std::max(figures.inbox_depth, agent->inbox.size());
      figures.gradients_by_worker.push_back(agent->made);
      figures.inbox_by_worker.push_back(static_cast<std::uint32_t>(agent->inbox.size()));
      const auto recent = agent->target.recent_loss();
      loss += recent.value_or(0);
      losses += recent ? 1 : 0;
    }
    if (losses > 0) figures.loss = loss / losses;
    options_.figures->add(std::move(figures), sum_S_);
  }

  void observe_loss(Agent<Real>& agent) {
    agent.target.observe_loss(agent.report.loss);
    try {
      agent.guard.observe(agent.worker.t(), agent.report.loss, *agent.target.recent_loss(),
                          agent.staleness().max, agent.worker.replica());
    } catch (const Divergence&) {
      fail(std::current_exception());
    }
  }

  void observe_model(Agent<Real>& agent) {
    if (agent.target.watches_models()) agent.target.observe_model(agent.worker.replica().x());
    if (agent.target.settle(agent.worker.t(), now_) && ++reached_ == agents_.size()) stop("target");
  }

  // Sends to all neighbours but the one it came from, ascending.
  void transmit(Agent<Real>& agent, const GradientPtr& gradient, WorkerId source) {
    if (source == agent.id && relayed()) agent.relay.is_first_copy(gradient);
    const auto neighbours = graph_.neighbours(agent.id);
    if (links_.uniform()) {
      if (!neighbours.empty())
        put_in_flight({gradient, agent.id, source, std::nullopt}, now_ + links_.uniform_latency());
      sendings_ += neighbours.size();
      return;
    }
    const std::size_t bytes = gradient->update.bytes().size() + header_bytes;
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      if (neighbours[k] == source) continue;
      const auto arrivals = links_.send(agent.id, k, bytes, now_);
      const InFlight frame{gradient, agent.id, source, index(neighbours[k])};
      put_in_flight(frame, arrivals.first);
      if (arrivals.copy) put_in_flight(frame, *arrivals.copy);
    }
  }

  void put_in_flight(InFlight frame, Nanoseconds arrival) {
    std::uint32_t slot;
    if (free_slots_.empty()) {
      slot = static_cast<std::uint32_t>(in_flight_.size());
      in_flight_.push_back(std::move(frame));
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
      in_flight_[slot] = std::move(frame);
    }
    queue_.push(Event::make(arrival, EventKind::arrival, sendings_++, slot));
  }

  void arrive(std::uint32_t slot) {
    const InFlight frame = std::exchange(in_flight_[slot], {});
    free_slots_.push_back(slot);
    if (frame.target) return deliver(*agents_[*frame.target], frame.gradient, frame.from);
    for (const WorkerId neighbour : graph_.neighbours(frame.from))
      if (neighbour != frame.source)
        deliver(*agents_[index(neighbour)], frame.gradient, frame.from);
  }

  void deliver(Agent<Real>& agent, const GradientPtr& gradient, WorkerId from) {
    if (relayed() && !agent.relay.is_first_copy(gradient)) return;
    agent.inbox.push_back({gradient, from});
    if (mode_ == RelayMode::arrival) transmit(agent, gradient, from);
    if (!agent.busy) {
      agent.busy = true;
      schedule_look(agent, now_);
    }
  }

  /// Whether a second copy of a gradient can arrive.
  bool relayed() const { return mode_ != RelayMode::none || world_.chaos.duplicate > 0; }

  void stop(const std::string& reason) {
    if (!std::exchange(stopped_, true)) reason_ = reason;
  }
  void fail(std::exception_ptr failure) {
    if (!failure_) failure_ = failure;
    stop("diverged");
  }

  void flush_trace() {
    if (!options_.trace) return;
    options_.trace->add(WorkerId{0}, std::exchange(lines_, {}), now_);
    for (std::size_t i = 1; i < options_.trace->sources(); ++i)
      options_.trace->add(worker_id(i), {}, now_);
  }

  TrainResult<Real> conclude() {
    std::vector<WorkerAccount<Real>> accounts;
    for (const auto& agent : agents_) accounts.push_back(agent->result());
    const double virtual_seconds = static_cast<double>(now_) * 1e-9;
    auto result = dasgd::conclude<Real>(objective_, options_, accounts, virtual_seconds);
    result.summary.virtual_seconds = virtual_seconds;
    if (residuals_) add_residuals(result.summary);
    result.summary.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    if (options_.evaluation.every.count() > 0) judge_.conclude(result);
    if (failure_) result.failure = failure_;
    if (!reason_.empty()) result.summary.stop_reason = reason_;
    fall_back_if_diverged(objective_, good_, result);
    return result;
  }

  void add_residuals(RunSummary& summary) const {
    LemmaTerms terms{.eta = options_.eta, .S_avg = summary.staleness.S_avg};
    terms.comparable = options_.rule.is_plain() && summary.halvings == 0 &&
                       !gradients_have_noise(options_, objective_.samples());
    terms.constants.L = options_.smoothness.value_or(0);
    for (const auto& agent : agents_) {
      terms.constants.Q = std::max(terms.constants.Q, agent->target.largest_gradient());
      terms.squared_gradients.push_back(*agent->target.squared_gradients());
    }
    summary.residuals = residuals_->against_lemmas(terms);
    summary.residuals_why =
        summary.residuals ? "" : "the gradients of the run take too much memory to be kept";
  }

  static constexpr std::size_t header_bytes = 64;

  const Objective<Real>& objective_;
  const TrainOptions& options_;
  const VirtualWorld& world_;
  const Graph graph_;
  const RelayMode mode_;
  Links links_;
  bool stopped_ = false;
  // Samples are drawn by steps that other cores make; a stop in between must not reach them.
  const std::atomic<bool> samples_never_stop_{false};
  GoodModel<Real> good_;
  std::vector<std::unique_ptr<Agent<Real>>> agents_;
  Judge<Real> judge_;
  Nanoseconds next_evaluation_ = 0;
  WorkersAhead ahead_;
  EventQueue queue_;
  Nanoseconds now_ = 0;
  std::vector<InFlight> in_flight_;
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t sendings_ = 0;
  std::size_t reached_ = 0;
  std::uint64_t applications_ = 0;
  double sum_S_ = 0;  // of all applications
  std::optional<ResidualMeter<Real>> residuals_;
  std::string reason_;
  std::exception_ptr failure_;
  std::vector<TraceLine> lines_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

template <typename Real>
TrainResult<Real> run_simulation(const Objective<Real>& objective, const TrainOptions& options,
                                 const VirtualWorld& world) {
  validate(options);
  require_resumable(options, objective);
  return Simulation<Real>(objective, options, world).run();
}

template TrainResult<float> run_simulation(const Objective<float>&, const TrainOptions&,
                                           const VirtualWorld&);
template TrainResult<double> run_simulation(const Objective<double>&, const TrainOptions&,
                                            const VirtualWorld&);

}  // namespace dasgd
