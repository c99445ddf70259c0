#include "dasgd/lab/rivals/mixing.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "dasgd/base/input_error.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {
namespace {

// Rows from weights of links (a, b), a < b; the worker itself gets what is left.
MixingMatrix rows_from(const Graph& graph,
                       const std::map<std::pair<std::size_t, std::size_t>, double>& links) {
  MixingMatrix matrix(graph.workers());
  for (std::size_t i = 0; i < graph.workers(); ++i) {
    MixingRow& row = matrix[i];
    for (const WorkerId j : graph.neighbours(worker_id(i))) row.who.push_back(index(j));
    row.who.push_back(i);
    std::sort(row.who.begin(), row.who.end());
    double left = 1;
    for (const std::size_t j : row.who)
      if (j != i) left -= links.at(std::minmax(i, j));
    for (const std::size_t j : row.who)
      row.weight.push_back(j == i ? left : links.at(std::minmax(i, j)));
  }
  return matrix;
}

}  // namespace

void require_two_way(const Graph& graph, const std::string& rival) {
  for (std::size_t i = 0; i < graph.workers(); ++i)
    for (const WorkerId j : graph.neighbours(worker_id(i)))
      if (!graph.connected(j, worker_id(i)))
        throw InputError(rival + " needs links that go both ways; `topology.kind` has one from " +
                         std::to_string(i) + " to " + std::to_string(index(j)) + " only");
}

MixingMatrix metropolis(const Graph& graph) {
  std::map<std::pair<std::size_t, std::size_t>, double> links;
  for (std::size_t i = 0; i < graph.workers(); ++i)
    for (const WorkerId j : graph.neighbours(worker_id(i)))
      links[std::minmax(i, index(j))] =
          1.0 / (1.0 + static_cast<double>(std::max(graph.neighbours(worker_id(i)).size(),
                                                    graph.neighbours(j).size())));
  return rows_from(graph, links);
}

MixingMatrix communication_coefficients(const Graph& graph) {
  const std::size_t n = graph.workers();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return graph.neighbours(worker_id(a)).size() > graph.neighbours(worker_id(b)).size();
  });
  std::map<std::pair<std::size_t, std::size_t>, double> links;
  std::vector<double> left(n, 1);
  std::vector<std::size_t> open(n);
  for (std::size_t i = 0; i < n; ++i) open[i] = graph.neighbours(worker_id(i)).size();
  const auto offer = [&](std::size_t i) { return left[i] / static_cast<double>(open[i] + 1); };
  for (const std::size_t i : order) {
    const double mine = offer(i);
    for (const WorkerId neighbour : graph.neighbours(worker_id(i))) {
      const std::size_t j = index(neighbour);
      if (links.contains(std::minmax(i, j))) continue;
      const double weight = std::min(mine, offer(j));
      links[std::minmax(i, j)] = weight;
      for (const std::size_t end : {i, j}) {
        left[end] -= weight;
        --open[end];
      }
    }
  }
  return rows_from(graph, links);
}

template <typename Real>
std::vector<Real> combine(const MixingRow& row, std::span<const std::span<const Real>> models) {
  constexpr std::size_t most = 4096;  // that stay in the first cache meanwhile
  std::vector<Real> result(models.front().begin(), models.front().end());
  for (std::size_t at = 0; at < result.size(); at += most) {
    const std::span<Real> part = std::span(result).subspan(at, std::min(most, result.size() - at));
    scale<Real>(part, row.weight.front());
    for (std::size_t k = 1; k < models.size(); ++k)
      add<Real>(part, row.weight[k], models[k].subspan(at, part.size()));
  }
  return result;
}

template std::vector<float> combine(const MixingRow&, std::span<const std::span<const float>>);
template std::vector<double> combine(const MixingRow&, std::span<const std::span<const double>>);

}  // namespace dasgd::rivals
