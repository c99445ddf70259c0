#include "dasgd/topology/graph.hpp"

#include <algorithm>
#include <cassert>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

using Links = std::vector<std::vector<WorkerId>>;

std::vector<bool> reachable_from_first(const Links& links) {
  std::vector<bool> seen(links.size(), false);
  std::vector<WorkerId> open{WorkerId{0}};
  seen[0] = true;
  while (!open.empty()) {
    const WorkerId here = open.back();
    open.pop_back();
    for (const WorkerId next : links[index(here)]) {
      if (seen[index(next)]) continue;
      seen[index(next)] = true;
      open.push_back(next);
    }
  }
  return seen;
}

Links reversed(const Links& links) {
  Links result(links.size());
  for (std::size_t from = 0; from < links.size(); ++from)
    for (const WorkerId to : links[from]) result[index(to)].push_back(worker_id(from));
  return result;
}

// "{0, 1, 2, ... 40 more}"
std::string members(const std::vector<bool>& part, bool value) {
  constexpr std::ptrdiff_t shown = 12;
  const auto total = std::count(part.begin(), part.end(), value);
  std::string text;
  std::ptrdiff_t listed = 0;
  for (std::size_t i = 0; i < part.size() && listed < shown; ++i) {
    if (part[i] != value) continue;
    text += (listed++ ? ", " : "{") + std::to_string(i);
  }
  return text + (total > shown ? ", ... " + std::to_string(total - shown) + " more}" : "}");
}

}  // namespace

void Graph::connect(WorkerId from, WorkerId to) {
  assert(from != to && index(from) < workers() && index(to) < workers());
  auto& out = neighbours_[index(from)];
  const auto at = std::lower_bound(out.begin(), out.end(), to);
  if (at == out.end() || *at != to) out.insert(at, to);
}

bool Graph::is_tree() const {
  if (links() != 2 * (workers() - 1)) return false;
  for (std::size_t a = 0; a < workers(); ++a)
    for (const WorkerId b : neighbours_[a])
      if (!connected(b, worker_id(a))) return false;
  return true;
}

bool Graph::connected(WorkerId from, WorkerId to) const {
  const auto out = neighbours(from);
  return std::binary_search(out.begin(), out.end(), to);
}

std::size_t Graph::links() const {
  std::size_t count = 0;
  for (const auto& out : neighbours_) count += out.size();
  return count;
}

void Graph::require_connected(const std::string& name) const {
  if (neighbours_.empty()) return;
  const auto refuse = [&](const std::vector<bool>& part, bool from_first) {
    throw InputError("topology " + name + " is disconnected: workers " + members(part, from_first) +
                     " cannot reach workers " + members(part, !from_first) +
                     "; add a link between them");
  };
  const auto from_first = reachable_from_first(neighbours_);
  if (std::count(from_first.begin(), from_first.end(), false) > 0) refuse(from_first, true);
  const auto to_first = reachable_from_first(reversed(neighbours_));
  if (std::count(to_first.begin(), to_first.end(), false) > 0) refuse(to_first, false);
}

std::vector<std::size_t> hops_from(const Graph& graph, WorkerId start) {
  std::vector<std::size_t> hops(graph.workers(), graph.workers());
  std::vector<WorkerId> ring{start};  // all that are `distance` hops away
  hops[index(start)] = 0;
  for (std::size_t distance = 1; !ring.empty(); ++distance) {
    std::vector<WorkerId> next;
    for (const WorkerId here : ring)
      for (const WorkerId neighbour : graph.neighbours(here)) {
        if (hops[index(neighbour)] < graph.workers()) continue;
        hops[index(neighbour)] = distance;
        next.push_back(neighbour);
      }
    ring = std::move(next);
  }
  return hops;
}

}  // namespace dasgd
