#include "dasgd/transport/chaos.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

bool contains(const std::vector<WorkerId>& side, WorkerId worker) {
  return std::find(side.begin(), side.end(), worker) != side.end();
}

bool crosses(const Chaos::Partition& p, WorkerId from, WorkerId to) {
  return (contains(p.one, from) && contains(p.other, to)) ||
         (contains(p.other, from) && contains(p.one, to));
}

// A frame that would cross a partition leaves when it has healed.
Nanoseconds healed(const Chaos& chaos, WorkerId from, WorkerId to, Nanoseconds time) {
  for (bool moved = true; moved;) {
    moved = false;
    for (const Chaos::Partition& p : chaos.partitions) {
      if (!crosses(p, from, to) || time < p.at || time >= p.at + p.length) continue;
      time = p.at + p.length;
      moved = true;
    }
  }
  return time;
}

// `times` waits of `length`, after each of which a partition may have to heal: in as many steps as
// there are partitions, however many waits there are.
Nanoseconds waited(const Chaos& chaos, WorkerId from, WorkerId to, Nanoseconds time, double times,
                   Nanoseconds length) {
  while (times > 0 && length > 0) {
    double steps = times;
    for (const Chaos::Partition& p : chaos.partitions)
      if (crosses(p, from, to) && p.at > time)
        steps = std::min(steps,
                         std::ceil(static_cast<double>(p.at - time) / static_cast<double>(length)));
    times -= steps;
    time = healed(chaos, from, to,
                  later(time, duration(steps * static_cast<double>(length), "drop"), "drop"));
  }
  return time;
}

void require_share(const char* name, double value) {
  if (!(value >= 0 && value < 1))
    throw InputError(std::string(name) + " = " + std::to_string(value) +
                     ": must be from 0 to below 1");
}

void require_worker(const char* name, WorkerId worker, const Graph& graph) {
  if (index(worker) >= graph.workers())
    throw InputError(std::string(name) + ": worker " + std::to_string(index(worker)) +
                     " does not exist; there are " + std::to_string(graph.workers()) +
                     ", numbered from 0");
}

Nanoseconds share_of(double share, Nanoseconds time) {
  return duration(share * static_cast<double>(time), "delay");
}

}  // namespace

std::optional<Nanoseconds> Chaos::paused_until(WorkerId worker, Nanoseconds now) const {
  for (const Pause& pause : pauses)
    if (pause.worker == worker && now >= pause.at && now < pause.at + pause.length)
      return pause.at + pause.length;
  return std::nullopt;
}

void validate(const Chaos& chaos, const Graph& graph) {
  require_share("delay", chaos.delay);
  require_share("reorder", chaos.reorder);
  require_share("duplicate", chaos.duplicate);
  require_share("drop", chaos.drop);
  for (const auto& pause : chaos.pauses) {
    require_worker("pause", pause.worker, graph);
    later(pause.at, pause.length, "pause");
  }
  for (const auto& partition : chaos.partitions) {
    later(partition.at, partition.length, "partition");
    for (const auto* side : {&partition.one, &partition.other})
      for (const WorkerId worker : *side) require_worker("partition", worker, graph);
  }
}

Random DisturbedLink::next_frame(std::uint64_t seed) {
  return {seed, Purpose::chaos, id_, static_cast<std::uint32_t>(frames_++)};
}

Nanoseconds DisturbedLink::leaves(const Chaos& chaos, Random& random, Nanoseconds now) const {
  Nanoseconds time = healed(chaos, from_, to_, now);
  if (chaos.drop == 0) return time;
  constexpr int one_by_one = 1000;
  for (int lost = 0; lost < one_by_one; ++lost) {
    if (random.uniform() >= chaos.drop) return time;
    time = healed(chaos, from_, to_, later(time, chaos.resend_after, "drop"));
  }
  // What was lost that often has no memory of it: how often from now on is drawn at once.
  const double more = std::floor(std::log1p(-random.uniform()) / std::log(chaos.drop));
  return waited(chaos, from_, to_, time, more, chaos.resend_after);
}

DisturbedLink::Arrivals DisturbedLink::arrives(const Chaos& chaos, Random& random,
                                               Nanoseconds arrival, Nanoseconds spread) {
  if (chaos.delay > 0 && random.uniform() < chaos.delay)
    arrival = later(arrival, share_of(random.uniform(), chaos.delay_up_to), "delay");
  if (chaos.reorder > 0 && random.uniform() < chaos.reorder) {
    arrival = later(arrival, share_of(random.uniform() * 3, std::max<Nanoseconds>(spread, 1000)),
                    "reorder");
  } else {
    arrival = last_arrival_ = std::max(arrival, last_arrival_);
  }
  Arrivals arrivals{arrival, std::nullopt};
  if (chaos.duplicate > 0 && random.uniform() < chaos.duplicate)
    arrivals.copy = later(arrival, share_of(random.uniform(), spread), "duplicate");
  return arrivals;
}

}  // namespace dasgd
