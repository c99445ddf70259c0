#include "dasgd/lab/rivals/methods/fragile.hpp"

#include "dasgd/lab/rivals/mixing.hpp"

namespace dasgd::rivals {

PivotTree pivot_tree(const Graph& graph, std::size_t pivot) {
  require_two_way(graph, "fragile");
  const auto hops = hops_from(graph, worker_id(pivot));
  PivotTree tree{std::vector<std::size_t>(graph.workers(), pivot),
                 std::vector<std::vector<std::size_t>>(graph.workers())};
  for (std::size_t i = 0; i < graph.workers(); ++i) {
    if (i == pivot) continue;
    for (const WorkerId j : graph.neighbours(worker_id(i)))
      if (hops[index(j)] + 1 == hops[i]) {
        tree.parent[i] = index(j);
        break;
      }
    tree.children[tree.parent[i]].push_back(i);
  }
  return tree;
}

}  // namespace dasgd::rivals
