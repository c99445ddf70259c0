// The engine of real threads: one for each participant, letters through mailboxes, gradients at the
// pace of a world's clocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/mailbox.hpp"
#include "dasgd/lab/rivals/participant_slot.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/lab/rivals/play_limits.hpp"
#include "dasgd/lab/rivals/rival_transport.hpp"

namespace dasgd {

template <typename Real>
class RealArena {
 public:
  /// With a transport, which must outlive this, only the participants that are here have a thread,
  /// and whoever decides the end for all calls `end`.
  RealArena(const Objective<Real>& objective, Participants<Real>& participants,
            const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how,
            const Observer<Real>* observer, RivalTransport<Real>* rival_transport = nullptr)
      : objective_(objective),
        options_(options),
        world_(world),
        how_(how),
        observer_(observer),
        rival_transport_(rival_transport),
        budget_(options, objective.samples()),
        under_way_(static_cast<std::int64_t>(participants.size())) {
    require_everybody(participants, options.workers);
    for (std::size_t i = 0; i < participants.size(); ++i)
      actors_.push_back(std::make_unique<Actor>(*this, i, *participants[i]));
  }

  PlayResult run() {
    StopReason reason = StopReason::budget;
    {
      std::vector<std::jthread> threads;
      for (const auto& actor : actors_)
        if (is_here(actor->participant_slot.id))
          threads.emplace_back([&actor](std::stop_token stop) { actor->act(stop); });
      reason = watch();
      for (std::jthread& thread : threads) thread.request_stop();
    }
    if (failure_) std::rethrow_exception(failure_);
    if (reason != StopReason::target) look();
    return {.reason = reason,
            .seconds = static_cast<double>(end_) * 1e-9,
            .gradients = gradients_,
            .wasted = wasted_,
            .samples = samples_,
            .messages = messages_,
            .overwritten = overwritten_};
  }

  std::size_t participants() const { return actors_.size(); }
  /// A letter from elsewhere. Any thread, like the next.
  void deliver(std::size_t to, RivalMessage<Real> letter) {
    actors_[to]->received.fetch_add(letter.bytes(), std::memory_order_relaxed);
    actors_[to]->mailbox.put(std::move(letter));
  }
  /// The run ends, for a reason that is known elsewhere.
  void end() {
    ended_ = true;
    wake();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// A participant, its thread's state, and what it is doing.
  struct Actor final : Port<Real> {
    Actor(RealArena& all, std::size_t self, Rival<Real>& participant)
        : arena(all),
          participant_slot(all.objective_, all.options_, all.world_, self, participant) {
      participant_slot.gradient.resize(all.objective_.dimension());
    }

    /// The body of its thread.
    void act(std::stop_token stop) {
      try {
        call([&] { participant_slot.rival.start(*this); });
        arena.done();
        while (!stop.stop_requested()) {
          if (asked && !computing) begin();
          if (computing && Clock::now() >= ready_at) {
            finish();
            continue;
          }
          const auto letter =
              mailbox.take(computing ? ready_at : Clock::now() + std::chrono::hours(1), stop);
          if (!letter) continue;
          call([&] { participant_slot.rival.received(*this, *letter); });
          arena.done();
        }
      } catch (...) {
        arena.fail(std::current_exception());
      }
    }

    void compute(std::span<const Real> at) override {
      require_model(participant_slot.id, at, arena.objective_.dimension());
      point.assign(at.begin(), at.end());
      if (!std::exchange(asked, true)) ++arena.under_way_;
    }
    void cancel() override {
      if (std::exchange(asked, false)) arena.done();
      if (!computing || unwanted) return;
      unwanted = true;
      if (arena.how_.preempt) ready_at = Clock::now();
    }
    void send(std::size_t to, RivalMessage<Real> letter) override {
      require_addressee(participant_slot.id, to, arena.actors_.size());
      letter.from = participant_slot.id;
      const std::uint64_t bytes = letter.bytes();
      messages.fetch_add(1, std::memory_order_relaxed);
      sent.fetch_add(bytes, std::memory_order_relaxed);
      ++arena.messages_;
      ++arena.under_way_;
      if (arena.is_here(to))
        arena.deliver(to, std::move(letter));
      else
        arena.rival_transport_->carry(to, std::move(letter));
    }
    bool sum_over_workers(std::span<Real> values) override {
      if (!arena.rival_transport_ || !arena.rival_transport_->sum_over_workers(values))
        return false;
      messages.fetch_add(1, std::memory_order_relaxed);
      sent.fetch_add(values.size_bytes(), std::memory_order_relaxed);
      received.fetch_add(values.size_bytes(), std::memory_order_relaxed);
      return true;
    }
    void charge(double) override {}  // it takes what it takes
    void discard(std::uint64_t count) override { arena.wasted_ += count; }
    void overwrite(std::uint64_t numbers) override { arena.overwritten_ += numbers; }
    void updating(std::span<const Real>, std::span<const Real>) override {}
    Nanoseconds now() const override { return arena.now(); }
    Random& random() override { return participant_slot.chance; }

    // The model is read by others between two calls.
    template <typename Call>
    void call(Call&& handler) {
      const std::lock_guard lock(hands);
      handler();
    }
    void begin() {
      asked = false;
      if (!arena.may_begin()) return arena.done();
      const Draw draw = participant_slot.batches.next();
      if (draw.kind != Draw::Kind::batch) return arena.no_more();
      participant_slot.samples = draw.rows.size();
      arena.samples_begun_ += participant_slot.samples;
      const Clock::time_point began = Clock::now();
      computing = true;
      participant_slot.loss =
          arena.objective_.gradient(point, draw.rows, participant_slot.gradient);
      ready_at = began + std::chrono::nanoseconds(participant_slot.times.next());
      const auto took = std::chrono::nanoseconds(std::max(ready_at, Clock::now()) - began);
      busy.fetch_add(took.count(), std::memory_order_relaxed);
    }
    void finish() {
      computing = false;
      ++arena.gradients_;
      arena.samples_ += participant_slot.samples;
      if (!std::isfinite(participant_slot.loss)) arena.diverge();
      if (std::exchange(unwanted, false))
        ++arena.wasted_;
      else
        call([&] {
          participant_slot.rival.computed(*this, participant_slot.gradient, participant_slot.loss);
        });
      arena.done();
    }

    RealArena& arena;
    ParticipantSlot<Real> participant_slot;
    Mailbox<Real> mailbox;
    std::mutex hands;  // guards the participant
    std::atomic<Nanoseconds> busy{0};
    std::atomic<std::uint64_t> messages{0}, sent{0}, received{0};
    // Of this thread alone:
    bool asked = false, computing = false, unwanted = false;
    std::vector<Real> point;
    Clock::time_point ready_at;
  };

  bool is_here(std::size_t participant) const {
    return !rival_transport_ || rival_transport_->is_here(participant);
  }

  Nanoseconds now() const { return std::chrono::nanoseconds(Clock::now() - start_).count(); }

  // Until a budget, the end of the time, a stop or the observer ends it.
  StopReason watch() {
    const Nanoseconds most = options_.max_time ? options_.max_time->count() : a_year;
    const std::stop_callback interrupted(options_.stop, [this] { wake(); });
    Nanoseconds next_look = 0;
    std::optional<StopReason> wanted;
    std::unique_lock lock(mutex_);
    while (true) {
      const Nanoseconds due = wanted ? a_year : observer_ ? std::min(next_look, most) : most;
      changed_.wait_until(lock, start_ + std::chrono::nanoseconds(due),
                          [&] { return failure_ || ended_ || is_quiet() || (!wanted && calls()); });
      end_ = now();
      if (failure_) return StopReason::failed;
      if (ended_) return wanted.value_or(StopReason::target);
      if (is_quiet()) return settle();
      if (wanted) continue;
      if (calls()) {
        wanted = diverged_ ? StopReason::diverged : StopReason::interrupted;
      } else if (end_ >= most) {
        wanted = StopReason::max_time;
      } else if (observer_ && end_ >= next_look) {
        lock.unlock();
        if (look()) wanted = StopReason::target;
        lock.lock();
        next_look = (now() / observer_->every + 1) * observer_->every;
      }
      if (wanted && !rival_transport_) return *wanted;
      if (wanted) rival_transport_->ask_for_the_end();
    }
  }
  bool calls() const { return diverged_ || options_.stop.stop_requested(); }
  // What is under way elsewhere is not known here.
  bool is_quiet() const { return !rival_transport_ && under_way_ == 0; }
  StopReason settle() {
    if (!exhausted_)
      failure_ = std::make_exception_ptr(
          std::runtime_error("deadlock: all participants are waiting and nothing is in flight"));
    return StopReason::budget;
  }

  // A participant that waits in a sum lets nobody look until it is complete: the time is that of
  // the copies.
  bool look() {
    if (!observer_) return false;
    std::vector<std::vector<Real>> copies;
    std::vector<NodeUse> nodes;
    for (const auto& actor : actors_) {
      std::size_t kept = 0;
      if (is_here(actor->participant_slot.id)) {
        const std::lock_guard lock(actor->hands);
        const auto model = actor->participant_slot.rival.model();
        if (!model.empty()) copies.emplace_back(model.begin(), model.end());
        kept = actor->participant_slot.kept(options_.workers);
      }
      const Nanoseconds at_work =
          is_here(actor->participant_slot.id) ? actor->busy.load() : busy_here();
      nodes.push_back({at_work, actor->messages, actor->sent, actor->received, kept});
    }
    const std::vector<std::span<const Real>> models(copies.begin(), copies.end());
    return observer_->look({.time = now(),
                            .models = models,
                            .nodes = nodes,
                            .gradients = gradients_,
                            .wasted = wasted_,
                            .samples = samples_});
  }

  /// Of the workers that are here, on the average: what is known of those elsewhere.
  Nanoseconds busy_here() const {
    Nanoseconds sum = 0, count = 0;
    for (std::size_t i = 0; i < options_.workers; ++i) {
      if (!is_here(i)) continue;
      sum += actors_[i]->busy;
      ++count;
    }
    return count > 0 ? sum / count : 0;
  }

  bool may_begin() {
    const bool may = begun_++ < budget_.gradients &&
                     static_cast<double>(samples_begun_.load()) < budget_.samples;
    if (!may) exhausted_ = true;
    return may;
  }
  void no_more() {
    exhausted_ = true;
    done();
  }
  /// A letter is read, or a gradient is delivered, and what follows from it is under way.
  void done() {
    if (--under_way_ == 0) wake();
  }
  void fail(std::exception_ptr failure) {
    if (rival_transport_) rival_transport_->abandon(failure);
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = failure;
    }
    changed_.notify_all();
  }
  void diverge() {
    diverged_ = true;
    wake();
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  static constexpr Nanoseconds a_year = 31'536'000'000'000'000;

  const Objective<Real>& objective_;
  const TrainOptions& options_;
  const VirtualWorld& world_;
  const PlayOptions how_;
  const Observer<Real>* const observer_;
  RivalTransport<Real>* const rival_transport_;
  const PlayBudget budget_;
  const Clock::time_point start_ = Clock::now();
  std::vector<std::unique_ptr<Actor>> actors_;
  std::atomic<std::uint64_t> begun_{0}, samples_begun_{0};
  std::atomic<std::uint64_t> gradients_{0}, wasted_{0}, samples_{0}, messages_{0}, overwritten_{0};
  std::atomic<std::int64_t> under_way_;  // letters, gradients, and calls that have not returned
  std::atomic<bool> exhausted_{false}, diverged_{false}, ended_{false};
  std::mutex mutex_;  // guards the failure, and what the watching thread waits for
  std::condition_variable_any changed_;
  std::exception_ptr failure_;
  Nanoseconds end_ = 0;
};

}  // namespace dasgd
