// When a frame that is sent now arrives.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/topology/graph.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// What a frame has beside its numbers.
inline constexpr std::size_t header_bytes = 64;

/// The links of a graph in virtual time: latency, bandwidth, network cards, order, and chaos.
/// Frames take their turn on a card in the order in which they are sent.
class Links {
 public:
  Links(const VirtualWorld& world, const Graph& graph, std::uint64_t seed);

  /// Every frame takes the same time on every link and nothing can happen to it: frames to several
  /// neighbours arrive together.
  bool uniform() const { return uniform_; }
  Nanoseconds uniform_latency() const { return world_.latency.smallest(); }

  /// Sends a frame of `bytes` over the `position`-th link of `from` at `now`; the instants at which
  /// its copies arrive, one or two.
  DisturbedLink::Arrivals send(WorkerId from, std::size_t position, std::size_t bytes,
                               Nanoseconds now);

  /// When the last frame has left the worker's card, and when the receiver of a link is ready to
  /// take another from it. Not where links are uniform.
  Nanoseconds card_free_at(WorkerId from) const { return out_free_at_[index(from)]; }
  Nanoseconds link_free_at(WorkerId from, std::size_t position) const {
    return links_[first_[index(from)] + position].taken_at;
  }

 private:
  Nanoseconds leaves_card(std::size_t from, std::size_t bytes, Nanoseconds now);
  Nanoseconds enters_card(std::size_t to, std::size_t bytes, Nanoseconds arrival);

  struct Link {
    DisturbedLink disturbed;
    std::size_t to;
    Nanoseconds free_at = 0;   // when the last frame has left
    Nanoseconds taken_at = 0;  // the same, or when the receiver's card came to it
    std::optional<Nanoseconds> fixed_latency;
  };

  const VirtualWorld& world_;
  const std::uint64_t seed_;
  bool uniform_;
  std::vector<std::size_t> first_;  // per worker, its first link
  std::vector<Link> links_;
  std::vector<Nanoseconds> out_free_at_, in_free_at_;  // of every node's card
};

}  // namespace dasgd
