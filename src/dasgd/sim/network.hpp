// What a simulated world says of its network.
#pragma once

#include "dasgd/core/objective.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/run/choose_links.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

template <typename Real>
NetworkLimits network_of(const Objective<Real>& objective, const TrainOptions& options,
                         const VirtualWorld& world) {
  constexpr std::uint64_t draws = 4;  // of each worker
  double sum = 0;
  for (std::size_t i = 0; i < options.workers; ++i)
    for (std::uint64_t k = 0; k < draws; ++k)
      sum += static_cast<double>(world.compute.draw(options.seed, Purpose::compute_time, i, k));
  return {.kind = "links of this world have no limit",
          .card = world.nic,
          .link = world.bandwidth,
          .gradient_seconds = sum * 1e-9 / static_cast<double>(draws * options.workers),
          .dimension = objective.dimension(),
          .format = number_format<Real>};
}

/// With the links and bits that this world wants, where the options leave them open. Times are
/// drawn for that alone.
template <typename Real>
TrainOptions with_links(const Objective<Real>& objective, const TrainOptions& options,
                        const VirtualWorld& world) {
  if (!leaves_links_open(options)) return options;
  return choose_links(options, network_of(objective, options, world));
}

}  // namespace dasgd
