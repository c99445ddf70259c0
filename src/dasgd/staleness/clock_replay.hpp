// Staleness where everybody applied each origin's gradients in their order: a set is a clock.
#pragma once

#include <optional>
#include <span>

#include "dasgd/staleness/replayed_worker.hpp"
#include "dasgd/staleness/trace_index.hpp"

namespace dasgd {

/// If nobody ever applied a later gradient of an origin before an earlier one, then every G and
/// every D(g) is a clock: how many gradients of each origin are in it. S = G xor D is one range of
/// numbers per origin, w_g a sum over ranges, and the sets D of one origin's gradients are nested,
/// so that S_hat needs the first and the last missing gradient of each origin only. Takes lines x
/// workers where nothing is missing, and a small multiple of it elsewhere, however large the sets
/// are.
class ClockReplay {
 public:
  /// Nothing if somebody applied gradients of one origin out of order.
  static std::optional<ClockReplay> of(const TraceIndex& index);

  ReplayedWorker worker(std::size_t i) const;

 private:
  using Clock = std::span<const std::uint32_t>;

  explicit ClockReplay(const TraceIndex& index);
  bool read_clocks();
  /// D of the k-th gradient of worker j.
  Clock D(std::size_t j, std::uint32_t k) const {
    const std::size_t n = index_->workers();
    return {clocks_.data() + std::size_t{index_->number(j, k)} * n, n};
  }
  std::uint64_t loose(Clock G, Clock D_of_g) const;

  const TraceIndex* index_;
  std::vector<std::uint32_t> clocks_;  // gradients x workers
};

}  // namespace dasgd
