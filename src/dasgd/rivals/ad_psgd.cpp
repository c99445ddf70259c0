#include "dasgd/rivals/ad_psgd.hpp"

#include <fmt/format.h>

#include "dasgd/rivals/mixing.hpp"

namespace dasgd::rivals {

TwoSides two_sides(const Graph& graph) {
  require_two_way(graph, "ad-psgd");
  const auto hops = hops_from(graph, WorkerId{0});
  TwoSides sides;
  for (const std::size_t distance : hops) sides.active.push_back(distance % 2 == 0);
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
  const TwoSides sides = two_sides(graph);
  if (sides.dropped == 0) return "";
  const std::size_t links = graph.links() / 2;
  return fmt::format(
      "ad-psgd pairs active with passive workers, so that nobody waits in a circle: {} of the {} "
      "links of this graph lie within a side and are not used",
      sides.dropped, links);
}

}  // namespace dasgd::rivals
