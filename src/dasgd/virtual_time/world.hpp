// The world of a simulated run: how long things take and what goes wrong.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/core/names.hpp"
#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/chaos.hpp"
#include "dasgd/virtual_time/arrivals.hpp"
#include "dasgd/virtual_time/time_model.hpp"

namespace dasgd {

struct VirtualWorld {
  TimeModel compute = TimeModel::constant(50'000'000);  ///< per worker and gradient
  TimeModel latency = TimeModel::constant(50'000);      ///< per link and frame
  std::map<std::pair<WorkerId, WorkerId>, Nanoseconds> latency_of_link;  ///< where given, wins
  Nanoseconds apply = 5'000;
  std::optional<double> bandwidth;  ///< bytes per second of each link; frames queue for it
  /// Bytes per second of each node's network card, out and in: all its links share it.
  std::optional<double> nic;
  /// A message takes the bytes of so many times its numbers: a small problem stands for a large
  /// model.
  double stands_for = 1;
  std::vector<Nanoseconds> start;        ///< when each worker begins; empty: all at 0
  std::optional<ArrivalTimes> arrivals;  ///< of samples; nothing: there is always one
  Chaos chaos;
  unsigned threads = 1;  ///< real cores that compute gradients which overlap in virtual time
};

/// Throws InputError for a world that does not fit the graph.
void validate(const VirtualWorld& world, const Graph& graph);

/// Whether nothing can ever be missing when a gradient is applied, so that |S| = |S_hat| = t - s
/// (THEORY, section 1): FIFO links with a relay; or direct broadcast while the largest latency is
/// below the smallest latency plus the smallest compute time.
bool delivery_is_causal(const VirtualWorld& world, const Graph& graph, bool relayed);

}  // namespace dasgd
