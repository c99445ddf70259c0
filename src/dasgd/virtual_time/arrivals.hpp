// Samples that arrive in virtual time: line 10 of Algorithm 1 asks whether there is one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/held_out.hpp"
#include "dasgd/core/samples.hpp"

namespace dasgd {

/// When samples arrive, for all workers together: a Poisson process, or the times of a file.
struct ArrivalTimes {
  double per_second = 0;           ///< of a Poisson process, which does not end
  std::vector<Nanoseconds> times;  ///< else these, ascending

  friend bool operator==(const ArrivalTimes&, const ArrivalTimes&) = default;
};

/// "poisson:RATE" or a file with a time per line (1.5s, 20ms, ...), in ascending order. Throws
/// InputError.
ArrivalTimes parse_arrivals(const std::string& text);

/// The samples of a data set, one after the other and again from the first, as they arrive; whoever
/// asks first gets the next ones. Owned by one thread.
class ArrivalQueue {
 public:
  ArrivalQueue(ArrivalTimes times, std::uint64_t seed, std::size_t samples, std::size_t batch);

  /// Arrivals up to this instant are there. Time only goes on.
  void advance(Nanoseconds now);
  /// When it is worth asking again: as soon as a batch is there, and not before; nothing once all
  /// have arrived.
  std::optional<Nanoseconds> next_batch_at();
  /// A worker's source: none now while fewer samples than a batch wait; the last batch of a file
  /// may be smaller. The queue must outlive it.
  std::unique_ptr<SampleSource> make_source();
  ArrivalFigures figures() const { return {.arrived = arrived_, .kept = 0}; }

 private:
  class Source;
  /// Whether there is an arrival number k + 1 after those that are known; then it is known as well.
  bool make_one_more();
  Draw take(std::vector<std::uint32_t>& rows);

  const ArrivalTimes times_;
  const std::uint64_t seed_;
  const std::size_t samples_, batch_;
  std::deque<Nanoseconds> coming_;  // the next arrivals, as far as somebody has asked
  std::uint64_t made_ = 0;          // arrivals that are known, past ones included
  double last_ = 0;                 // when the last of them is, of a Poisson process
  std::uint64_t arrived_ = 0, taken_ = 0;
};

}  // namespace dasgd
