#include "dasgd/lab/rivals/methods/ad_psgd.hpp"

#include <fmt/format.h>
#include <utility>

#include "dasgd/lab/rivals/mixing.hpp"

namespace dasgd::rivals {

PairingSides two_sides(const Graph& graph) {
  require_two_way(graph, "ad-psgd");
  PairingSides sides{.active = std::vector<bool>(graph.workers()), .partners = {}};
  std::vector<bool> seen(graph.workers());
  std::vector<std::pair<std::size_t, bool>> open{{0, true}};
  while (!open.empty()) {
    const auto [i, active] = open.back();
    open.pop_back();
    if (seen[i]) continue;
    seen[i] = true;
    sides.active[i] = active;
    const auto neighbours = graph.neighbours(worker_id(i));
    for (auto j = neighbours.rbegin(); j != neighbours.rend(); ++j)
      if (!seen[index(*j)]) open.emplace_back(index(*j), !active);
  }
  for (std::size_t i = 0; i < graph.workers(); ++i) {
    auto& partners = sides.partners.emplace_back();
    for (const WorkerId j : graph.neighbours(worker_id(i)))
      if (sides.active[i] != sides.active[index(j)])
        partners.push_back(index(j));
      else
        sides.dropped += i < index(j) ? 1 : 0;
  }
  return sides;
}

std::string describe_sides(const Graph& graph) {
  const PairingSides sides = two_sides(graph);
  if (sides.dropped == 0) return "";
  const std::size_t links = graph.links() / 2;
  return fmt::format(
      "ad-psgd pairs active with passive workers, to avoid deadlock: {} of the {} "
      "links of this graph lie within a side and are not used",
      sides.dropped, links);
}

}  // namespace dasgd::rivals
