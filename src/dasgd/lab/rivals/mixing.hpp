// How much of each neighbour's model goes into a worker's own: rows of a matrix W.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dasgd/lab/rivals/rival.hpp"
#include "dasgd/topology/graph.hpp"

namespace dasgd::rivals {

/// One row of W: the worker itself and its neighbours, ascending.
struct MixingRow {
  std::vector<std::size_t> who;
  std::vector<double> weight;
};
using MixingMatrix = std::vector<MixingRow>;

/// Throws InputError unless every link goes both ways.
void require_two_way(const Graph& graph, const std::string& rival);

/// w_ij = 1 / (1 + the larger degree of the two): symmetric, rows sum up to 1; 1/3 on a ring.
MixingMatrix metropolis(const Graph& graph);
/// SWIFT's communication coefficient selection: in descending order of degree, a worker splits what
/// is left of its row evenly; of the two ends of a link the smaller offer counts.
MixingMatrix communication_coefficients(const Graph& graph);

/// sum of w_ij x_j, in the order of the row. `models` has one for each of `row.who`.
template <typename Real>
std::vector<Real> combine(const MixingRow& row, std::span<const std::span<const Real>> models);

}  // namespace dasgd::rivals
