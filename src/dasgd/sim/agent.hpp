// One simulated worker: the same Worker as everywhere, behind a channel of virtual time.
#pragma once

#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "dasgd/core/worker.hpp"
#include "dasgd/plan/budget.hpp"
#include "dasgd/plan/leg.hpp"
#include "dasgd/plan/options.hpp"
#include "dasgd/plan/result.hpp"
#include "dasgd/plan/target.hpp"
#include "dasgd/staleness/ledger.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd {

/// Hands a worker the gradient that its simulation has chosen, and keeps what it sends until
/// virtual time has come. While a step is made by another core, the simulation does not touch it.
class VirtualChannel final : public Channel {
 public:
  void receive(std::size_t, std::vector<GradientPtr>& waiting) override {
    if (to_apply) waiting.push_back(std::move(to_apply));
  }
  std::shared_ptr<Gradient> blank() override { return std::make_shared<Gradient>(); }
  void send(GradientPtr gradient) override { sent = std::move(gradient); }
  void applied(std::span<const GradientPtr>) override {}
  Nanoseconds now() const override { return 0; }  // the simulation puts its own instants

  GradientPtr to_apply, sent;
};

/// A worker with its accounts. What happens when is the simulation's business.
template <typename Real>
struct Agent {
  Agent(WorkerId self, const Objective<Real>& objective, const TrainOptions& options,
        std::size_t batch, const Graph& graph, RelayMode mode, bool exact_sets,
        const std::atomic<bool>& stopped, GoodModel<Real>& good)
      : id(self),
        samples(make_samples(options, self, objective.samples(), batch, stopped)),
        rule(make_rule<Real>(options, samples.limit())),
        guard(self, rule, options, good),
        target(objective, options),
        relay(self, graph, mode),
        slow(slow_factor(options, self)),
        worker(self, objective, guard, samples, channel, 1) {
    if (exact_sets) ledger.emplace(options.workers);
    restore<Real>(options, guard, worker);
  }

  /// |S| and |S_hat| of the application that was just made. Where delivery is causal, t - s says
  /// it.
  Staleness account(const Gradient& gradient, std::uint64_t t) {
    if (ledger) return ledger->record(gradient);
    const std::uint64_t staleness = t - gradient.origin_step;
    S.add(staleness);
    return {staleness, staleness};
  }

  const StalenessStatistics& staleness() const { return ledger ? ledger->S() : S; }

  WorkerAccount<Real> result() const {
    return {&worker,
            staleness(),
            ledger ? ledger->S_hat() : S,
            ledger ? ledger->W() : std::nullopt,
            ledger ? ledger->noncausal_applications() : 0,
            relay.copies_dropped(),
            samples.samples(),
            target.reached() ? target.reached()->t : worker.t(),
            target.reached() ? target.reached()->time : last_time,
            target.squared_gradients(),
            guard.halvings()};
  }

  const WorkerId id;
  VirtualChannel channel;
  BudgetedBatches samples;
  StagedRule<Real> rule;
  DivergenceGuard<Real> guard;
  TargetTracker<Real> target;
  Relay relay;
  std::optional<Ledger> ledger;
  StalenessStatistics S;
  const double slow;
  Worker<Real> worker;

  struct Waiting {
    GradientPtr gradient;
    WorkerId from;
  };
  std::deque<Waiting> inbox;
  WorkerId received_from{};       // whence the gradient came that is being applied
  bool busy = true;               // until its start
  StepReport report;              // of the step that is under way
  std::future<StepReport> ahead;  // where the step is computed by another core
  std::exception_ptr failure;     // what the step threw
  Nanoseconds began = 0;          // when the step began
  Nanoseconds last_time = 0;      // when the last application was complete
  // Of gradients that are complete; the worker itself may be ahead, on another core.
  std::uint32_t made = 0;
  std::uint64_t samples_used = 0;
};

}  // namespace dasgd
