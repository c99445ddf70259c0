// How much may wait, be under way and be kept.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dasgd/elastic/protocol_options.hpp"

namespace dasgd::elastic {

/// In gradients, by their size and by how many members there are.
class Windows {
 public:
  Windows(const ProtocolOptions& options, const Membership& members)
      : options_(options), members_(members) {}

  /// What a link may lack before it is behind: what fits, or what members usually have under way
  /// where there is memory for it; but not less than is under way on it and than others have sent
  /// it meanwhile.
  std::size_t most_waiting() const {
    const std::uint64_t here = members_.count_here();
    return std::max({fit_into(options_.limits.most_waiting_bytes), least_under_way + 2 * here,
                     std::min(4 * options_.limits.in_flight * here,
                              fit_into(options_.limits.most_kept_bytes) / 3)});
  }
  /// Memory comes before separating branches: beyond so many bytes in the log, what cannot be
  /// separated later is given up, by name.
  std::uint64_t most_bytes_in_log() const {
    return std::max(3 * most_waiting() * bytes_of_gradient(), options_.limits.most_kept_bytes);
  }
  /// What waits for a worker that is behind is folded in rows of this length.
  std::size_t most_unfolded() const {
    return std::clamp<std::uint64_t>(
        fit_into(options_.limits.most_waiting_bytes), least_under_way,
        std::max<std::uint64_t>(least_under_way, options_.limits.in_flight));
  }
  /// Messages that have been sent on a link and that the other end has not reported. What has to be
  /// said of the run waits behind them, in buffers that nobody sees into.
  std::size_t most_under_way() const {
    return std::clamp<std::uint64_t>(fit_into(window_bytes), least_under_way, most_small_ones);
  }
  /// Not everybody is linked to everybody: gradients arrive on several routes.
  bool relays_at_once() const {
    return members_.count_here() > options_.limits.most_in_mesh ||
           members_.has_member_without_address();
  }

 private:
  static constexpr std::uint64_t window_bytes = 8 << 20;  // a link of 100 ms and 80 MB/s is full
  static constexpr std::uint64_t most_small_ones = 4096;  // taken in a moment, however small
  static constexpr std::uint64_t least_under_way = 4;     // however large they are

  /// A gradient takes about: its numbers, what is reported about it, and its set, with a number for
  /// each member there ever was.
  std::uint64_t bytes_of_gradient() const {
    return options_.update_bytes() + 1024 + sizeof(std::uint32_t) * members_.size();
  }
  std::uint64_t fit_into(std::uint64_t bytes) const { return bytes / bytes_of_gradient(); }

  const ProtocolOptions& options_;
  const Membership& members_;
};

}  // namespace dasgd::elastic
