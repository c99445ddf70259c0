// The virtual-time engine of rivals.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/lab/rivals/participant_slot.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/lab/rivals/play_limits.hpp"
#include "dasgd/lab/rivals/ring_cost.hpp"
#include "dasgd/lab/rivals/staleness_meter.hpp"
#include "dasgd/lab/rivals/vectors.hpp"
#include "dasgd/virtual_time/event_queue.hpp"
#include "dasgd/virtual_time/links.hpp"
#include "dasgd/virtual_time/slots.hpp"

namespace dasgd {

template <typename Real>
class Arena {
 public:
  Arena(const Objective<Real>& objective, Participants<Real>& participants,
        const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how,
        const Observer<Real>* observer)
      : objective_(objective),
        options_(options),
        world_(world),
        how_(how),
        observer_(observer),
        budget_(options, objective.samples()),
        links_(world, everybody_unless_uniform(world, participants.size()), options.seed),
        meter_(objective.dimension(), how.measured_S, options.eta) {
    require_everybody(participants, options.workers);
    for (std::size_t i = 0; i < participants.size(); ++i)
      nodes_.push_back(std::make_unique<Node>(*this, i, *participants[i]));
  }

  PlayResult run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      now_ = i < world_.start.size() ? world_.start[i] : 0;
      nodes_[i]->handle([](Node& node) { node.participant_slot.rival.start(node); });
    }
    const Nanoseconds end =
        options_.max_time ? options_.max_time->count() : std::numeric_limits<Nanoseconds>::max();
    while (const auto event = queue_.pop()) {
      if (is_of_a_stopped_gradient(*event)) continue;
      if (options_.stop.stop_requested()) return conclude(StopReason::interrupted);
      if (observes_before(std::min(event->time, end))) return conclude(StopReason::target);
      if (event->time > end) {
        now_ = end;
        return conclude(StopReason::max_time);
      }
      if (exhausted_ && event->kind() == EventKind::arrival &&
          ++letters_after_all_ > most_letters())
        return conclude(StopReason::budget);
      now_ = event->time;
      dispatch(*event);
      if (diverged_) return conclude(StopReason::diverged);
    }
    if (!exhausted_)
      throw std::runtime_error("deadlock: all participants are waiting and nothing is in flight");
    return conclude(StopReason::budget);
  }

 private:
  static Graph everybody_unless_uniform(const VirtualWorld& world, std::size_t participants) {
    const Graph none(participants);
    return Links(world, none, 0).uniform() ? none : everybody(participants);
  }

  /// A participant and what it is doing.
  struct Node final : Port<Real> {
    Node(Arena& all, std::size_t self, Rival<Real>& participant)
        : arena(all),
          participant_slot(all.objective_, all.options_, all.world_, self, participant) {
      participant_slot.gradient.resize(all.meter_.extended());
    }

    /// Calls the participant now, or when its hands are free.
    template <typename Call>
    void handle(Call&& call) {
      if (hands_free_at > arena.now_) return waiting.push_back(std::forward<Call>(call));
      local = arena.now_;
      call(*this);
      occupy();
    }
    void deliver() {
      if (std::exchange(ready, false))
        participant_slot.rival.computed(*this, participant_slot.gradient, participant_slot.loss);
    }
    void hands_are_free() {
      while (!waiting.empty() && hands_free_at <= arena.now_) {
        const auto call = std::move(waiting.front());
        waiting.pop_front();
        handle(call);
      }
    }
    void occupy() {
      if (local <= arena.now_) return;
      hands_free_at = local;
      arena.push(local, EventKind::foreign_finished, participant_slot.id);
    }

    void compute(std::span<const Real> point) override {
      require_model(participant_slot.id, point, arena.meter_.extended());
      if (computing)  // in vain, or paused
        next_point.assign(point.begin(), point.end());
      else
        arena.begin(*this, point, local);
    }
    void cancel() override {
      if (std::exchange(ready, false)) ++arena.wasted_;
      if (!computing || unwanted || paused) return next_point.clear();
      unwanted = !arena.how_.preempt;
      if (unwanted) return;
      computing = false;
      use.busy -= ready_at - local;
      if (arena.how_.spans) arena.how_.spans->push_back({participant_slot.id, began, local, true});
      ++arena.wasted_;
      ++arena.gradients_;
    }
    void send(std::size_t to, RivalMessage<Real> letter) override {
      require_addressee(participant_slot.id, to, arena.nodes_.size());
      letter.from = participant_slot.id;
      arena.send(*this, to, std::move(letter), local);
    }
    void charge(double passes) override {
      const auto time = duration(passes * static_cast<double>(arena.world_.apply), "apply");
      local = later(local, time, "apply");
      use.busy += time;
    }
    void discard(std::uint64_t gradients) override { arena.wasted_ += gradients; }
    void updating(std::span<const Real> model, std::span<const Real> gradients) override {
      arena.meter_.updating(model, gradients);
    }
    bool meet(std::span<const Real> own, double gathered) override {
      return arena.meet(*this, own, gathered);
    }
    Nanoseconds now() const override { return local; }
    Random& random() override { return participant_slot.chance; }

    Arena& arena;
    ParticipantSlot<Real> participant_slot;
    NodeUse use;
    Nanoseconds local = 0;          // this participant's time while it is called
    Nanoseconds hands_free_at = 0;  // until then others wait
    std::deque<std::function<void(Node&)>> waiting;
    bool computing = false, unwanted = false, paused = false;
    bool ready = false;  // a gradient waits for the participant's hands
    Nanoseconds began = 0, ready_at = 0;
    std::vector<Real> next_point;
  };
  struct Flight {
    std::size_t to = 0;
    RivalMessage<Real> letter = {};
  };

  // When no gradient is left to be begun, letters may still finish something; a rival that sends
  // for ever does not.
  std::uint64_t most_letters() const { return 100'000 + 100 * nodes_.size() * nodes_.size(); }

  bool is_of_a_stopped_gradient(const QueuedEvent& event) const {
    if (event.kind() != EventKind::own_finished) return false;
    const Node& node = *nodes_[event.subject];
    return !node.computing || node.ready_at != event.time;
  }

  void push(Nanoseconds time, EventKind kind, std::size_t node) {
    const auto i = static_cast<std::uint32_t>(node);
    queue_.push(QueuedEvent::make(time, kind, i, i));
  }

  void dispatch(const QueuedEvent& event) {
    if (event.kind() == EventKind::own_finished) return computed(*nodes_[event.subject]);
    if (event.kind() == EventKind::foreign_finished) return nodes_[event.subject]->hands_are_free();
    if (event.kind() == EventKind::look) return begin_next(*nodes_[event.subject]);
    Flight flight = flights_.take(event.subject);
    Node& node = *nodes_[flight.to];
    node.use.received += bytes_of(flight.letter);
    node.handle([letter = std::move(flight.letter)](Node& n) {
      n.participant_slot.rival.received(n, letter);
    });
  }

  // The gradient follows from the point and the batch, so it is computed at once.
  void begin(Node& node, std::span<const Real> point, Nanoseconds at) {
    if (begun_ >= budget_.gradients || static_cast<double>(samples_begun_) >= budget_.samples) {
      exhausted_ = true;
      return;
    }
    node.computing = true;
    const auto resumes = world_.chaos.paused_until(worker_id(node.participant_slot.id), at);
    node.paused = resumes.has_value();
    if (node.paused) {
      node.next_point.assign(point.begin(), point.end());
      return push(*resumes, EventKind::look, node.participant_slot.id);
    }
    ParticipantSlot<Real>& participant_slot = node.participant_slot;
    const Draw draw = participant_slot.batches.next();
    if (draw.kind != Draw::Kind::batch) {
      exhausted_ = true;
      return;
    }
    const std::size_t d = objective_.dimension();
    participant_slot.loss = objective_.gradient(point.first(d), draw.rows,
                                                std::span(participant_slot.gradient).first(d));
    meter_.computing(point, participant_slot.gradient);
    const Nanoseconds takes = participant_slot.times.next();
    node.began = at;
    node.ready_at = later(at, takes, "compute");
    node.use.busy += takes;
    participant_slot.samples = draw.rows.size();
    ++begun_;
    samples_begun_ += participant_slot.samples;
    push(node.ready_at, EventKind::own_finished, participant_slot.id);
  }
  void begin_next(Node& node) {
    if (!node.next_point.empty()) begin(node, std::exchange(node.next_point, {}), now_);
  }

  void computed(Node& node) {
    node.computing = false;
    ++gradients_;
    samples_ += node.participant_slot.samples;
    if (!std::isfinite(node.participant_slot.loss)) diverged_ = true;
    if (how_.spans)
      how_.spans->push_back({node.participant_slot.id, node.began, now_, node.unwanted});
    if (std::exchange(node.unwanted, false)) {
      ++wasted_;
      return begin_next(node);
    }
    node.ready = true;
    node.handle([](Node& n) { n.deliver(); });
  }

  std::size_t bytes_of(const RivalMessage<Real>& letter) const {
    return letter.bytes_of(static_cast<double>(unextended(letter.count())) * world_.stands_for);
  }
  // Without what vectors have been extended by for the account of staleness.
  std::size_t unextended(std::size_t size) const {
    return size * objective_.dimension() / meter_.extended();
  }

  void send(Node& node, std::size_t to, RivalMessage<Real> letter, Nanoseconds at) {
    const std::size_t bytes = bytes_of(letter);
    ++node.use.messages;
    node.use.sent += bytes;
    ++messages_;
    const Nanoseconds arrival =
        links_.uniform()
            ? later(at, links_.uniform_latency(), "latency")
            : links_
                  .send(worker_id(node.participant_slot.id),
                        to < node.participant_slot.id ? to : to - 1, bytes + header_bytes, at)
                  .first;
    queue_.push(QueuedEvent::make(arrival, EventKind::arrival, messages_,
                                  flights_.put({to, std::move(letter)})));
  }

  // The last one to come decides when all go on.
  bool meet(Node& node, std::span<const Real> own, double gathered) {
    if (!how_.meet || !has_steady_links(world_)) return false;
    met_.resize(own.size());
    add<Real>(met_, 1, own);
    met_at_ = std::max(met_at_, node.local);
    if (++met_by_ < options_.workers) return true;
    const RingCost cost =
        ring_cost(world_, options_.workers,
                  static_cast<double>(unextended(own.size()) * sizeof(Real)), gathered);
    const Nanoseconds time = later(met_at_, cost.takes, "all-reduce");
    const RivalMessage<Real> sum{.numbers = share<Real>(met_), .share = 0};
    for (std::size_t i = 0; i < options_.workers; ++i) {
      NodeUse& use = nodes_[i]->use;
      use.messages += cost.messages;
      use.sent += cost.messages * cost.bytes;
      use.received += cost.messages * cost.bytes;
      use.busy += cost.busy;
      queue_.push(QueuedEvent::make(time, EventKind::arrival, ++messages_, flights_.put({i, sum})));
    }
    met_.clear();
    met_by_ = 0;
    met_at_ = 0;
    return true;
  }

  bool observes_before(Nanoseconds time) {
    if (!observer_) return false;
    for (; next_look_ < time; next_look_ = later(next_look_, observer_->every, "eval-every"))
      if (look(next_look_)) return true;
    return false;
  }
  bool look(Nanoseconds time) {
    looked_at_ = time;
    std::vector<std::span<const Real>> models;
    std::vector<NodeUse> uses;
    for (const auto& node : nodes_) {
      const Rival<Real>& rival = node->participant_slot.rival;
      if (const auto model = how_.shows_common ? rival.common() : rival.model(); !model.empty()) {
        require_model(node->participant_slot.id, model, objective_.dimension());
        models.push_back(model.first(objective_.dimension()));
      }
      uses.push_back(node->use);
      uses.back().kept = unextended(node->participant_slot.kept(options_.workers));
    }
    return observer_->look({.time = time,
                            .models = models,
                            .nodes = uses,
                            .gradients = gradients_,
                            .wasted = wasted_,
                            .samples = samples_});
  }

  PlayResult conclude(StopReason reason) {
    if (observer_ && looked_at_ < now_ && reason != StopReason::target) look(now_);
    PlayResult result{
        .reason = reason,
        .seconds = static_cast<double>(reason == StopReason::target ? looked_at_ : now_) * 1e-9,
        .gradients = gradients_,
        .wasted = wasted_,
        .samples = samples_,
        .messages = messages_};
    if (meter_.updates() > 0) {
      result.S_avg = meter_.mean();
      result.S_max = meter_.max();
    }
    return result;
  }

  const Objective<Real>& objective_;
  const TrainOptions& options_;
  const VirtualWorld& world_;
  const PlayOptions how_;
  const Observer<Real>* const observer_;
  const PlayBudget budget_;
  Links links_;
  StalenessMeter<Real> meter_;
  EventQueue queue_;
  Nanoseconds now_ = 0, next_look_ = 0, looked_at_ = -1;
  std::vector<std::unique_ptr<Node>> nodes_;
  Slots<Flight> flights_;
  std::uint64_t begun_ = 0, samples_begun_ = 0;
  std::uint64_t gradients_ = 0, wasted_ = 0, samples_ = 0, messages_ = 0;
  std::uint64_t letters_after_all_ = 0;
  std::vector<Real> met_;  // the sum of those who have come, how many, and when the last one did
  std::size_t met_by_ = 0;
  Nanoseconds met_at_ = 0;
  bool exhausted_ = false, diverged_ = false;
};

}  // namespace dasgd
