// When a worker of a simulation that has no sample asks again.
#pragma once

#include <cstdint>
#include <optional>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/stream/prequential.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/run/figures.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/run_worker.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// Where the world brings samples to the workers, it is known when the next ones arrive; any other
/// source that says "none now" is asked again after a while. Owned by one thread.
class Feed {
 public:
  /// Throws InputError for arrivals without batches. Options must outlive this.
  Feed(const TrainOptions& options, const VirtualWorld& world, std::size_t samples);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// As given, and with the sources of arrivals.
  const TrainOptions& options() const { return fed_ ? *fed_ : given_; }
  /// Draws from what has arrived by now.
  Draw::Kind draw(BudgetedSamples& samples, Nanoseconds now) {
    if (arrivals_) arrivals_->advance(now);
    return samples.prepare();
  }
  /// A worker is about to learn from what it has drawn: test, then train.
  template <typename Real>
  void test(const Objective<Real>& objective, RunWorker<Real>& run) {
    if (!arrivals_) return;
    const Rows rows = run.samples().prepared();
    if (const auto right = objective.right_answers(run.worker().replica().x(), rows))
      answers_.add(*right, rows.size());
  }
  /// Adds these figures, with what has arrived, to those that the options want.
  void log(RunFigures figures, double sum_S) const;
  /// When to ask again; nothing where no sample will come.
  std::optional<Nanoseconds> next_ask(Nanoseconds now);
  void conclude(Nanoseconds now, RunSummary& summary);

 private:
  static constexpr Nanoseconds asks_every = 1'000'000;

  const TrainOptions& given_;
  std::optional<ArrivalQueue> arrivals_;
  Prequential answers_;
  std::optional<TrainOptions> fed_;
};

}  // namespace dasgd
