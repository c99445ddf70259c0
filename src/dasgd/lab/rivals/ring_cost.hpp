// What a ring of workers costs in virtual time, without its letters.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/virtual_time/links.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// Whether every message of one size takes the same time.
inline bool has_steady_links(const VirtualWorld& world) {
  return world.latency.is_constant() && world.latency_of_link.empty() && !world.chaos.on_links();
}

struct RingCost {
  std::size_t messages = 0, bytes = 0;  ///< of each worker; of each message, without its header
  Nanoseconds takes = 0, busy = 0;      ///< until all have all; passes over vectors
};

/// Of an all-reduce: 2 (n - 1) messages of an n-th of the vector one after the other. Where
/// `gathered` is not 0, of an all-gather: n - 1 messages of such a share of it.
inline RingCost ring_cost(const VirtualWorld& world, std::size_t workers, double vector_bytes,
                          double gathered) {
  const auto n = static_cast<double>(workers);
  const double all = vector_bytes * world.stands_for,
               without_end = std::numeric_limits<double>::infinity(),
               rate =
                   std::min(world.nic.value_or(without_end), world.bandwidth.value_or(without_end)),
               busy = gathered > 0 ? 0 : (n - 1) / n * static_cast<double>(world.apply);
  RingCost cost{
      .messages = gathered > 0 ? workers - 1 : 2 * (workers - 1),
      .bytes = static_cast<std::size_t>(std::ceil(gathered > 0 ? gathered * all : all / n)),
      .busy = duration(busy, "apply")};
  const double step = static_cast<double>(world.latency.smallest()) +
                      static_cast<double>(cost.bytes + header_bytes) / rate * 1e9;
  cost.takes = duration(static_cast<double>(cost.messages) * step + busy, "all-reduce");
  return cost;
}

}  // namespace dasgd
