// When a worker of a simulation that has no sample asks again.
#pragma once

#include <cstdint>
#include <optional>

#include "dasgd/record/run_summary.hpp"
#include "dasgd/run/options.hpp"
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
  /// What has arrived by now is there.
  void advance(Nanoseconds now) {
    if (arrivals_) arrivals_->advance(now);
  }
  /// When to ask again; nothing where no sample will come.
  std::optional<Nanoseconds> next_ask(Nanoseconds now);
  void conclude(Nanoseconds now, RunSummary& summary);

 private:
  static constexpr Nanoseconds asks_every = 1'000'000;

  const TrainOptions& given_;
  std::optional<ArrivalQueue> arrivals_;
  std::optional<TrainOptions> fed_;
};

}  // namespace dasgd
