// Who can reach whom in an arena, and when it is over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "dasgd/run/options.hpp"
#include "dasgd/topology/graph.hpp"

namespace dasgd {

/// Everybody can reach everybody.
inline Graph everybody(std::size_t participants) {
  Graph graph(participants);
  for (std::size_t a = 0; a < participants; ++a)
    for (std::size_t b = 0; b < participants; ++b)
      if (a != b) graph.connect(worker_id(a), worker_id(b));
  return graph;
}

/// When no further gradient is begun.
struct PlayBudget {
  std::uint64_t gradients = std::numeric_limits<std::uint64_t>::max();
  double samples = std::numeric_limits<double>::infinity();

  PlayBudget(const TrainOptions& options, std::size_t all_samples) {
    if (options.total_gradients) gradients = *options.total_gradients;
    if (!options.gradients.empty()) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < options.workers; ++i)
        sum += options.gradients[options.gradients.size() == 1 ? 0 : i];
      gradients = std::min(gradients, sum);
    }
    if (options.epochs) samples = *options.epochs * static_cast<double>(all_samples);
  }
};

}  // namespace dasgd
