#include "dasgd/sim/links.hpp"

#include <algorithm>
#include <cmath>

namespace dasgd {
namespace {

bool contains(const std::vector<WorkerId>& side, WorkerId worker) {
  return std::find(side.begin(), side.end(), worker) != side.end();
}

}  // namespace

Links::Links(const VirtualWorld& world, const Graph& graph, std::uint64_t seed)
    : world_(world), seed_(seed) {
  const Chaos& chaos = world.chaos;
  const bool disturbed = chaos.delay > 0 || chaos.reorder > 0 || chaos.duplicate > 0 ||
                         chaos.drop > 0 || !chaos.partitions.empty();
  uniform_ = world.latency.is_constant() && world.latency_of_link.empty() && !world.bandwidth &&
             !disturbed;
  if (uniform_) return;
  for (std::size_t i = 0; i < graph.workers(); ++i) {
    first_.push_back(links_.size());
    for (const WorkerId to : graph.neighbours(worker_id(i))) {
      Link link{worker_id(i), to};
      if (const auto fixed = world.latency_of_link.find({worker_id(i), to});
          fixed != world.latency_of_link.end())
        link.fixed_latency = fixed->second;
      links_.push_back(link);
    }
  }
}

// A frame that would cross a partition leaves when it has healed.
Nanoseconds Links::healed(const Link& link, Nanoseconds time) const {
  for (bool moved = true; moved;) {
    moved = false;
    for (const Chaos::Partition& p : world_.chaos.partitions) {
      const bool crosses = (contains(p.one, link.from) && contains(p.other, link.to)) ||
                           (contains(p.other, link.from) && contains(p.one, link.to));
      if (!crosses || time < p.at || time >= p.at + p.length) continue;
      time = p.at + p.length;
      moved = true;
    }
  }
  return time;
}

Links::Arrivals Links::send(WorkerId from, std::size_t position, std::size_t bytes,
                            Nanoseconds now) {
  const std::size_t id = first_[index(from)] + position;
  Link& link = links_[id];
  const Chaos& chaos = world_.chaos;
  const std::uint64_t frame = link.frames++;
  Random random(seed_, Purpose::chaos, static_cast<std::uint32_t>(id),
                static_cast<std::uint32_t>(frame));
  Nanoseconds leaves = healed(link, now);
  if (chaos.drop > 0)
    while (random.uniform() < chaos.drop) leaves = healed(link, leaves + chaos.resend_after);
  if (world_.bandwidth) {
    const double seconds = static_cast<double>(bytes) / *world_.bandwidth;
    leaves = std::max(leaves, link.free_at) + static_cast<Nanoseconds>(std::llround(seconds * 1e9));
    link.free_at = leaves;
  }
  const Nanoseconds latency = link.fixed_latency
                                  ? *link.fixed_latency
                                  : world_.latency.draw(seed_, Purpose::latency, id, frame);
  Nanoseconds arrival = leaves + latency;
  if (chaos.delay > 0 && random.uniform() < chaos.delay)
    arrival += std::llround(random.uniform() * static_cast<double>(chaos.delay_up_to));
  if (chaos.reorder > 0 && random.uniform() < chaos.reorder) {
    arrival += std::llround(random.uniform() * 3 *
                            static_cast<double>(std::max<Nanoseconds>(latency, 1000)));
  } else {
    arrival = std::max(arrival, link.last_arrival);
    link.last_arrival = arrival;
  }
  Arrivals arrivals{arrival, std::nullopt};
  if (chaos.duplicate > 0 && random.uniform() < chaos.duplicate)
    arrivals.copy = arrival + std::llround(random.uniform() * static_cast<double>(latency));
  return arrivals;
}

}  // namespace dasgd
