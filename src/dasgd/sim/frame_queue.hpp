// How parcels travel between simulated workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/core/message_format.hpp"
#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/parcel.hpp"
#include "dasgd/transport/pending.hpp"
#include "dasgd/transport/relay.hpp"
#include "dasgd/virtual_time/event_queue.hpp"
#include "dasgd/virtual_time/links.hpp"
#include "dasgd/virtual_time/slots.hpp"

namespace dasgd {

/// Carries parcels over the links of a graph in virtual time. Where cards or links are thin and
/// every name comes once over every link, what waits for a link is one bundle, if that may be, and
/// becomes a message when the link and the card are free; elsewhere each gradient is a message at
/// once.
class FrameQueue {
 public:
  FrameQueue(const VirtualWorld& world, const Graph& graph, RelayMode mode, std::uint64_t seed,
             MessageFormat message, bool may_fold, EventQueue& queue);

  /// Whether what waits for a link is one bundle.
  bool folds() const { return folds_; }
  /// To all neighbours of `from` but `source`, which it came from; own parcels come from `from`.
  void send(WorkerId from, const Parcel& parcel, WorkerId source, Nanoseconds now);
  /// A link or the card of this worker has become free.
  void pump(WorkerId from, Nanoseconds now);

  /// A message has arrived: calls `deliver(to, parcel, from)`.
  template <typename Deliver>
  void arrive(std::uint32_t number, Deliver&& deliver) {
    const Flight flight = flights_.take(number);
    if (flight.target) return deliver(*flight.target, flight.parcel, flight.from);
    for (const WorkerId to : graph_.neighbours(flight.from))
      if (to != flight.source) deliver(to, flight.parcel, flight.from);
  }

  /// What a worker has sent, without headers.
  const Traffic& sent(WorkerId worker) const { return sent_[index(worker)]; }
  /// What waits for its links, in memory.
  std::size_t bytes_waiting(WorkerId worker) const;
  /// The numbers of a parcel as a message: one gradient's, or a sum packed to the bits in use.
  std::size_t bytes_of(const Parcel& parcel) const;

 private:
  struct Flight {
    Parcel parcel;
    WorkerId from{}, source{};       // the sender, and the neighbour the sender had it from
    std::optional<WorkerId> target;  // nothing: all neighbours of the sender but `source`
  };
  struct Outgoing {  // of one worker
    std::vector<Pending> links;
    std::size_t next = 0;  // whose turn it is
  };

  std::optional<std::size_t> next_link(WorkerId from, Nanoseconds now) const;
  void send_at_once(WorkerId from, const Parcel& parcel, WorkerId source, Nanoseconds now);
  void carry(WorkerId from, std::size_t link, Parcel parcel, WorkerId source, Nanoseconds now);
  void put_in_flight(Flight flight, Nanoseconds arrival);

  const Graph& graph_;
  const bool folds_;
  const std::size_t facts_bytes_;  // of each gradient of a bundle
  const MessageFormat message_;
  const double stands_for_;  // see VirtualWorld
  EventQueue& queue_;
  Links links_;
  Slots<Flight> flights_;
  std::vector<Traffic> sent_;
  std::vector<Outgoing> outgoing_;
  std::uint64_t sendings_ = 0;
};

}  // namespace dasgd
