#include "dasgd/virtual_time/links.hpp"

#include <algorithm>

#include "dasgd/base/checked_time.hpp"

namespace dasgd {
namespace {

Nanoseconds time_on_card(std::size_t bytes, double bytes_per_second) {
  return duration(static_cast<double>(bytes) / bytes_per_second * 1e9, "nic");
}

}  // namespace

Links::Links(const VirtualWorld& world, const Graph& graph, std::uint64_t seed)
    : world_(world), seed_(seed) {
  uniform_ = world.latency.is_constant() && world.latency_of_link.empty() && !world.bandwidth &&
             !world.nic && !world.chaos.on_links();
  if (uniform_) return;
  out_free_at_.resize(graph.workers());
  in_free_at_.resize(graph.workers());
  for (std::size_t i = 0; i < graph.workers(); ++i) {
    first_.push_back(links_.size());
    for (const WorkerId to : graph.neighbours(worker_id(i))) {
      Link link{DisturbedLink(worker_id(i), to, static_cast<std::uint32_t>(links_.size())),
                index(to)};
      if (const auto fixed = world.latency_of_link.find({worker_id(i), to});
          fixed != world.latency_of_link.end())
        link.fixed_latency = fixed->second;
      links_.push_back(link);
    }
  }
}

DisturbedLink::Arrivals Links::send(WorkerId from, std::size_t position, std::size_t bytes,
                                    Nanoseconds now) {
  const std::size_t id = first_[index(from)] + position;
  Link& link = links_[id];
  Random random = link.disturbed.next_frame(seed_);
  Nanoseconds leaves = link.disturbed.leaves(world_.chaos, random, now);
  if (world_.bandwidth) {
    const double seconds = static_cast<double>(bytes) / *world_.bandwidth;
    leaves =
        later(std::max(leaves, link.free_at), duration(seconds * 1e9, "bandwidth"), "bandwidth");
    link.free_at = leaves;
  }
  if (world_.nic) leaves = std::max(leaves, leaves_card(index(from), bytes, now));
  const Nanoseconds latency =
      link.fixed_latency ? *link.fixed_latency
                         : world_.latency.draw(seed_, Purpose::latency, id, link.disturbed.frame());
  Nanoseconds arrival = later(leaves, latency, "latency");
  if (world_.nic) arrival = enters_card(link.to, bytes, arrival);
  link.taken_at = arrival - latency;
  return link.disturbed.arrives(world_.chaos, random, arrival, latency);
}

Nanoseconds Links::leaves_card(std::size_t from, std::size_t bytes, Nanoseconds now) {
  Nanoseconds& free_at = out_free_at_[from];
  free_at = later(std::max(now, free_at), time_on_card(bytes, *world_.nic), "nic");
  return free_at;
}

// The last byte cannot come before it has travelled, nor before the card has taken what came first.
Nanoseconds Links::enters_card(std::size_t to, std::size_t bytes, Nanoseconds arrival) {
  Nanoseconds& free_at = in_free_at_[to];
  free_at = std::max(arrival, later(free_at, time_on_card(bytes, *world_.nic), "nic"));
  return free_at;
}

}  // namespace dasgd
