// Who can reach whom in an arena, and when it is over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "dasgd/base/input_error.hpp"
#include "dasgd/lab/rivals/rival.hpp"
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

/// Mistakes of a rival, which may be somebody's first. They throw InputError.
template <typename Real>
void require_everybody(const Participants<Real>& participants, std::size_t workers) {
  if (participants.size() < workers ||
      std::ranges::any_of(participants, [](const auto& one) { return !one; }))
    throw InputError("a rival has " + std::to_string(participants.size()) + " participants for " +
                     std::to_string(workers) + " workers");
}
inline void require_addressee(std::size_t from, std::size_t to, std::size_t participants) {
  if (to >= participants || to == from)
    throw InputError("participant " + std::to_string(from) + " sends to participant " +
                     std::to_string(to) + ", and there are " + std::to_string(participants) +
                     ", counted from 0");
}
template <typename Real>
void require_model(std::size_t from, std::span<const Real> model, std::size_t dimension) {
  if (model.size() < dimension)
    throw InputError("participant " + std::to_string(from) + " has a model of " +
                     std::to_string(model.size()) + " numbers instead of " +
                     std::to_string(dimension));
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
