#include "dasgd/sim/feed.hpp"

#include <utility>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {

Feed::Feed(const TrainOptions& options, const VirtualWorld& world, std::size_t samples)
    : given_(options) {
  if (!world.arrivals) return;
  const std::size_t batch = resolved_batch(options, samples);
  if (batch == 0 || options.make_samples)
    throw InputError("`pace.arrivals` needs mini-batches: `batch` must be at least 1");
  arrivals_.emplace(*world.arrivals, options.seed, samples, batch);
  fed_ = options;
  fed_->make_samples = [this](WorkerId, std::uint64_t) { return arrivals_->make_source(); };
}

void Feed::log(RunFigures figures, double sum_S) const {
  if (arrivals_) {
    figures.arrived = arrivals_->figures().arrived;
    figures.prequential = answers_.accuracy();
  }
  given_.figures->add(std::move(figures), sum_S);
}

std::optional<Nanoseconds> Feed::next_ask(Nanoseconds now) {
  return arrivals_ ? arrivals_->next_batch_at() : later(now, asks_every, "budget.max_time");
}

void Feed::conclude(Nanoseconds now, RunSummary& summary) {
  if (!arrivals_) return;
  arrivals_->advance(now);
  summary.arrivals = arrivals_->figures();
  summary.arrivals->prequential = answers_.accuracy();
}

}  // namespace dasgd
