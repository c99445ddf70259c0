#include "dasgd/sim/feed.hpp"

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

std::optional<Nanoseconds> Feed::next_ask(Nanoseconds now) {
  return arrivals_ ? arrivals_->next_batch_at() : later(now, asks_every, "budget.max_time");
}

void Feed::conclude(Nanoseconds now, RunSummary& summary) {
  if (!arrivals_) return;
  arrivals_->advance(now);
  summary.arrivals = arrivals_->figures();
}

}  // namespace dasgd
