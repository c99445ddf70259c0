// One simulated worker: the same Worker as everywhere, behind a channel of virtual time.
#pragma once

#include <algorithm>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/base/fifo.hpp"
#include "dasgd/core/bundle.hpp"
#include "dasgd/core/channel.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/run_worker.hpp"
#include "dasgd/sim/frame_queue.hpp"
#include "dasgd/sim/streak.hpp"
#include "dasgd/sim/workers_ahead.hpp"
#include "dasgd/transport/parcel.hpp"
#include "dasgd/transport/relay.hpp"
#include "dasgd/virtual_time/observer.hpp"

namespace dasgd {

/// How many workers a run may have for the exact sets to be kept although delivery is causal and
/// t - s would do.
inline constexpr std::size_t workers_with_exact_sets = 64;

/// So many foreign gradients a worker applies in one pass, before anybody sees its model.
inline constexpr std::size_t most_applied_together = 64;

/// An own gradient of a simulated worker, and how many others have not begun to apply it and have
/// not folded it: a real worker would not have its buffer back.
struct SimulatedGradient : Gradient {
  mutable std::uint32_t receivers = 0;
};

/// Hands a worker what its simulation has chosen, and keeps what it sends until virtual time has
/// come. While a step is made by another core, the simulation does not touch it.
class VirtualChannel final : public Channel {
 public:
  void receive(std::size_t, Received& received) override { std::swap(received, arrived); }
  std::shared_ptr<Gradient> blank() override {
    return made_ = std::make_shared<SimulatedGradient>();
  }
  void send(GradientPtr own) override {
    if (!compute_sets_count) made_->compute_set = {};
    made_.reset();
    sent = std::move(own);
  }
  void applied(const Received&) override {}
  Nanoseconds now() const override { return 0; }  // the simulation puts its own instants

  Received arrived;  // to be applied: gradients or a bundle
  GradientPtr sent;
  bool compute_sets_count = true;  // false: nobody asks what a gradient knew; n numbers each

 private:
  std::shared_ptr<Gradient> made_;
};

/// A worker with its inbox. What happens when is the simulation's business.
template <typename Real>
struct Agent {
  Agent(WorkerId self, const Objective<Real>& objective, const TrainOptions& options,
        const Graph& graph, RelayMode mode, bool exact_sets, const FrameQueue& carrier,
        const SharedByWorkers<Real>& shared)
      : id(self),
        frame_queue(carrier),
        relay(self, graph, mode, graph.workers(), /*with_announcements=*/false),
        slow(slow_factor(options, self)),
        run(self, objective, objective.make_oracle(self), options, channel, shared, 1, exact_sets) {
    channel.compute_sets_count = exact_sets || options.workers <= CausalWeights::most_workers ||
                                 options.measure_gradients || !run.worker().point().plan().is_off();
  }

  bool has_waiting() const { return folded || !inbox.empty(); }
  bool has_waiting_of(WorkerId origin) const {
    return std::any_of(inbox.begin(), inbox.end(), [origin](const Waiting& w) {
      return w.parcel.gradient->name.origin == origin;
    });
  }
  /// Whether this look was to end a streak that ended earlier.
  bool is_of_a_cut_streak(Nanoseconds now) {
    const auto at = std::find(cut_looks.begin(), cut_looks.end(), now);
    if (at == cut_looks.end()) return false;
    cut_looks.erase(at);
    return true;
  }
  /// There is no sample before that: true if a look is to be scheduled then.
  bool asks_later(std::optional<Nanoseconds> time) {
    asks = true;
    return !std::exchange(asks_at, asks_at ? asks_at : time) && asks_at;
  }
  /// Whether this look is one for a sample that something else came before.
  bool no_longer_asks(Nanoseconds now) {
    if (asks_at != now) return false;
    asks_at.reset();
    return !std::exchange(asks, false);
  }
  /// When a computation that begins now is complete.
  Nanoseconds computed_at(const TimeModel& compute, std::uint64_t seed, Nanoseconds now) const {
    const auto drawn =
        compute.draw(seed, Purpose::compute_time, index(id), run.worker().computed());
    if (slow == 1) return later(now, drawn, "compute");
    return later(now, duration(static_cast<double>(drawn) * slow, "slow"), "slow");
  }
  void receive(const Parcel& parcel, WorkerId from) {
    inbox.push_back({parcel, from});
    inbox_depth += parcel.size();
  }
  /// Begins to apply what waited longest; false if that is what was folded here.
  bool take_oldest() {
    const bool alone = !folded;
    applies = alone ? inbox.pop_front() : Waiting{BundlePtr(std::move(folded)), id};
    inbox_depth -= applies.parcel.size();
    return alone;
  }
  /// What it applies is complete; the worker changes when somebody is about to see it.
  void complete(Nanoseconds now) {
    applied_at = now;
    channel.arrived.bundle = std::move(applies.parcel.bundle);
    if (applies.parcel.gradient)
      channel.arrived.gradients.push_back(std::move(applies.parcel.gradient));
  }
  /// Its step, by another core where there are some; it fails at its end.
  void begin_step(WorkersAhead& others) {
    if (others.running()) {
      ahead = others.run([this] { return run.worker().step(); });
      return;
    }
    try {
      report = run.worker().step();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  void end_step() {
    if (ahead.valid()) report = ahead.get();
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
  struct Waiting {
    Parcel parcel;
    WorkerId from;
  };

  const WorkerId id;
  const FrameQueue& frame_queue;
  VirtualChannel channel;
  Relay relay;
  const double slow;
  RunWorker<Real> run;

  std::shared_ptr<Bundle> folded;  // older than what is in the inbox
  Fifo<Waiting> inbox;
  std::size_t inbox_depth = 0;          // gradients that wait, folded or not
  std::size_t gradients_in_flight = 0;  // own ones that still have receivers
  Waiting applies{};                    // what is being applied
  Streak streak;                        // of applications that have no events of their own ...
  std::vector<Nanoseconds> cut_looks;   // ... and ends of those that were cut
  bool passed_on = true;                // ... unless it is to be relayed when it is complete
  Nanoseconds applied_at = 0;           // when the last of what has arrived was complete
  bool busy = true;                     // until its start
  StepReport report;                    // of the own gradient that is under way
  std::future<StepReport> ahead;        // where the step is computed by another core
  std::exception_ptr failure;           // what the step threw
  Nanoseconds began = 0;                // when the computation began
  std::optional<Nanoseconds> asks_at;   // a look that is scheduled because there was no sample ...
  bool asks = false;                    // ... and whether it is still wanted
  std::uint32_t computed = 0;  // gradients that are complete; the worker itself may be ahead
  NodeUse use;                 // but for what is in `sent`; where somebody looks
  std::vector<Real> before;    // x while a step is under way, where somebody will look meanwhile
};

template <typename Real>
using Agents = std::vector<std::unique_ptr<Agent<Real>>>;

}  // namespace dasgd
