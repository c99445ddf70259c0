// Expected staleness on the usual graphs: the paper's figures (section 4.1) and the exact ones
// (docs/theory.md). All workers are equally fast, begin together (where nothing else is said) and
// make B gradients each; applying takes little time against the latency.
//
// e(l, j) is the number of rounds until a gradient of l is usable at j, beyond its own: 0 with zero
// latency, the hop distance with relay on application, ceil(hops * latency / compute) otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dasgd::theory {

/// S_avg in the limit of many gradients, and S_max.
struct ExpectedStaleness {
  double S_avg = 0, S_max = 0;
};

namespace detail {

/// On a graph that looks the same from everywhere: `distances` is the sum of e(l, j) over all l,
/// `farthest` the largest of them. A gradient that travels e rounds meets n (e + 1) - 1 others.
inline ExpectedStaleness same_from_everywhere(std::size_t n, std::size_t distances,
                                              std::size_t farthest) {
  return {static_cast<double>(distances) + static_cast<double>(n - 1) / 2,
          static_cast<double>(n * (farthest + 1) - 1)};
}

/// The sum of hop distances from one place of a ring of n to all others.
inline std::size_t ring_distances(std::size_t n) { return n * n / 4; }

}  // namespace detail

/// The paper on the full graph, whatever the latency below the compute time.
inline ExpectedStaleness published_full(std::size_t workers) {
  const auto n = static_cast<double>(workers);
  return {(n + 1) / 2, n};
}

/// The paper on a ring, of either kind and with either relay.
inline ExpectedStaleness published_ring(std::size_t workers) {
  const auto n = static_cast<double>(workers);
  return {(n * n + 1) / 2, n * n};
}

/// Every gradient is usable one round later: the full graph with 0 < latency < compute, and any
/// graph with relay on arrival whose longest way takes less than one gradient.
inline ExpectedStaleness one_round_later(std::size_t n) {
  return detail::same_from_everywhere(n, n - 1, 1);
}

/// The full graph with zero latency.
inline ExpectedStaleness full_at_zero_latency(std::size_t n) {
  return detail::same_from_everywhere(n, 0, 0);
}

/// The full graph with starts spread evenly over one compute time, latency below their distance.
inline ExpectedStaleness full_with_spread_phases(std::size_t workers) {
  const auto n = static_cast<double>(workers);
  return {n - 1, n};
}

/// A directed ring with relay on application.
inline ExpectedStaleness directed_ring_on_application(std::size_t n) {
  return detail::same_from_everywhere(n, n * (n - 1) / 2, n - 1);
}

/// A ring with relay on application; its S_max needs an application to take some time, so that near
/// gradients come before far ones.
inline ExpectedStaleness ring_on_application(std::size_t n) {
  return detail::same_from_everywhere(n, detail::ring_distances(n), n / 2);
}

/// A torus with relay on application.
inline ExpectedStaleness torus_on_application(std::size_t rows, std::size_t columns) {
  const std::size_t distances =
      columns * detail::ring_distances(rows) + rows * detail::ring_distances(columns);
  return detail::same_from_everywhere(rows * columns, distances, rows / 2 + columns / 2);
}

/// A star with relay on application: n - 1 pairs at distance 1, all others at distance 2.
inline ExpectedStaleness star_on_application(std::size_t workers) {
  const auto n = static_cast<double>(workers);
  return {(n - 1) * (5 * n - 4) / (2 * n), workers == 2 ? 2 * n - 1 : 3 * n - 1};
}

/// Of two workers with B gradients each, the pairs of which neither knows the other, when theirs
/// need `out` and `in` rounds. For out = in = e < B it is B (2 e + 1) - e (e + 1).
inline std::uint64_t concurrent_pairs(std::uint64_t B, std::uint64_t out, std::uint64_t in) {
  const auto known = [B](std::uint64_t e) {
    const std::uint64_t later = B - std::min(B, e);
    return later * (later - std::min<std::uint64_t>(later, 1)) / 2;
  };
  return B * B - known(out) - known(in);
}

/// The sum of |S| over the applications of any one worker in a lockstep run, to the last integer;
/// `rounds(l, j)` is e.
template <typename Rounds>
std::uint64_t sum_of_staleness(std::size_t workers, std::uint64_t B, const Rounds& rounds) {
  std::uint64_t total = 0;
  for (std::size_t j = 0; j < workers; ++j)
    for (std::size_t l = j + 1; l < workers; ++l)
      total += concurrent_pairs(B, rounds(j, l), rounds(l, j));
  return total;
}

/// The same with spread phases: each gradient overlaps the one before and the one after of every
/// other worker.
inline std::uint64_t sum_of_staleness_with_spread_phases(std::size_t workers, std::uint64_t B) {
  return workers * (workers - 1) / 2 * (2 * B - 1);
}

}  // namespace dasgd::theory
