#include "dasgd/sim/frame_queue.hpp"

#include <utility>

#include "dasgd/base/checked_time.hpp"

namespace dasgd {
namespace {

// Links deliver in order and nothing comes twice.
bool brings_names_once(const VirtualWorld& world, const Graph& graph, RelayMode mode) {
  return !world.chaos.on_links() && (graph.is_tree() || mode == RelayMode::none);
}

}  // namespace

FrameQueue::FrameQueue(const VirtualWorld& world, const Graph& graph, RelayMode mode,
                       std::uint64_t seed, MessageFormat message, bool may_fold, EventQueue& queue)
    : graph_(graph),
      folds_(may_fold && (world.nic || world.bandwidth) && brings_names_once(world, graph, mode)),
      // On a tree delivery is causal: of a gradient its step is enough.
      facts_bytes_(graph.is_tree() ? 8 : 48 + 4 * graph.workers()),
      message_(message),
      stands_for_(world.stands_for),
      queue_(queue),
      links_(world, graph, seed),
      sent_(graph.workers()) {
  if (!folds_) return;
  outgoing_.resize(graph.workers());
  for (std::size_t i = 0; i < graph.workers(); ++i)
    outgoing_[i].links.resize(graph.neighbours(worker_id(i)).size());
}

void FrameQueue::send(WorkerId from, const Parcel& parcel, WorkerId source, Nanoseconds now) {
  if (!folds_) return send_at_once(from, parcel, source, now);
  const auto neighbours = graph_.neighbours(from);
  for (std::size_t k = 0; k < neighbours.size(); ++k)
    if (neighbours[k] != source) outgoing_[index(from)].links[k].add(parcel);
  pump(from, now);
}

// In turn: no neighbour waits for one that gets more.
std::optional<std::size_t> FrameQueue::next_link(WorkerId from, Nanoseconds now) const {
  const Outgoing& out = outgoing_[index(from)];
  const std::size_t n = out.links.size();
  for (std::size_t i = 0; i < n && links_.card_free_at(from) <= now; ++i) {
    const std::size_t k = (out.next + i) % n;
    if (!out.links[k].empty() && links_.link_free_at(from, k) <= now) return k;
  }
  return std::nullopt;
}

void FrameQueue::pump(WorkerId from, Nanoseconds now) {
  Outgoing& out = outgoing_[index(from)];
  const auto number = static_cast<std::uint32_t>(index(from));
  while (const auto k = next_link(from, now)) {
    out.next = *k + 1;
    carry(from, *k, out.links[*k].take(), from, now);
    for (const Nanoseconds time : {links_.card_free_at(from), links_.link_free_at(from, *k)})
      if (time > now) queue_.push(QueuedEvent::make(time, EventKind::link_free, number, number));
  }
}

void FrameQueue::send_at_once(WorkerId from, const Parcel& parcel, WorkerId source,
                              Nanoseconds now) {
  const auto neighbours = graph_.neighbours(from);
  if (!links_.uniform()) {
    for (std::size_t k = 0; k < neighbours.size(); ++k)
      if (neighbours[k] != source) carry(from, k, parcel, source, now);
    return;
  }
  const bool spares_one = source != from && graph_.connected(from, source);
  const std::size_t receivers = neighbours.size() - (spares_one ? 1 : 0);
  sent_[index(from)] += {receivers, receivers * bytes_of(parcel)};
  if (!neighbours.empty())
    put_in_flight({parcel, from, source, std::nullopt},
                  later(now, links_.uniform_latency(), "latency"));
  sendings_ += neighbours.size();
}

void FrameQueue::carry(WorkerId from, std::size_t link, Parcel parcel, WorkerId source,
                       Nanoseconds now) {
  const std::size_t bytes = bytes_of(parcel);
  sent_[index(from)] += {1, bytes};
  const auto arrivals =
      links_.send(from, link, bytes + header_bytes + (parcel.size() - 1) * facts_bytes_, now);
  const Flight flight{std::move(parcel), from, source, graph_.neighbours(from)[link]};
  put_in_flight(flight, arrivals.first);
  if (arrivals.copy) put_in_flight(flight, *arrivals.copy);
}

void FrameQueue::put_in_flight(Flight flight, Nanoseconds arrival) {
  const std::uint32_t number = flights_.put(std::move(flight));
  queue_.push(QueuedEvent::make(arrival, EventKind::arrival, sendings_++, number));
}

std::size_t FrameQueue::bytes_waiting(WorkerId worker) const {
  std::size_t bytes = 0;
  if (folds_)
    for (const Pending& link : outgoing_[index(worker)].links) bytes += link.size_in_bytes();
  return bytes;
}

std::size_t FrameQueue::bytes_of(const Parcel& parcel) const {
  const NumberFormat format =
      parcel.bundle ? parcel.bundle->format() : parcel.gradient->update.format();
  const std::size_t numbers =
      parcel.bundle ? parcel.bundle->dimension() : parcel.size_in_bytes() / number_bytes(format);
  const double all = static_cast<double>(numbers) * stands_for_;
  return message_bytes(message_, format, static_cast<std::size_t>(all + 0.5), parcel.size());
}

}  // namespace dasgd
