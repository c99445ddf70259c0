#include "dasgd/virtual_time/world.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "dasgd/core/error.hpp"

namespace dasgd {
void validate(const VirtualWorld& world, const Graph& graph) {
  const std::size_t n = graph.workers();
  if (world.compute.items() != 0 && world.compute.items() != n)
    throw InputError(
        fmt::format("compute has {} values for {} workers; give one, or one per worker",
                    world.compute.items(), n));
  if (world.latency.items() != 0)
    throw InputError("latency is one value or a distribution; use file:PATH for one per link");
  if (!world.start.empty() && world.start.size() != n)
    throw InputError(fmt::format("start has {} values for {} workers", world.start.size(), n));
  for (const auto& [link, time] : world.latency_of_link)
    if (index(link.first) >= n || index(link.second) >= n ||
        !graph.connected(link.first, link.second))
      throw InputError(fmt::format("latency: there is no link from worker {} to worker {}",
                                   index(link.first), index(link.second)));
  if (world.bandwidth && !(*world.bandwidth > 0)) throw InputError("bandwidth must be positive");
  if (world.nic && !(*world.nic > 0)) throw InputError("nic must be positive");
  validate(world.chaos, graph);
}

bool delivery_is_causal(const VirtualWorld& world, const Graph& graph, bool relayed) {
  if (world.chaos.reorder > 0) return false;
  if (relayed) return true;
  if (graph.workers() <= 2) return true;
  if (world.bandwidth || world.nic || world.chaos.any()) return false;
  Nanoseconds low = world.latency.smallest(), high = world.latency.largest();
  for (const auto& [link, time] : world.latency_of_link) {
    low = std::min(low, time);
    high = std::max(high, time);
  }
  return high - low < world.compute.smallest();
}

}  // namespace dasgd
