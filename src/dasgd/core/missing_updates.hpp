// How many updates of other workers a replica lacks, from names alone: no clocks are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// What worker i knows about the pace and the delay of the others. Every gradient g of worker j
/// carries D(g), so i knows with how many of its own updates g is concurrent when it is applied:
///   lag = own updates so far - own updates in D(g)
/// With rho_j gradients of j per own update, and mean lags over the last arrivals of j,
///   W_j = (lag_j - 1) / 2     is the delay on the way from j, and half of what j is computing, in
///                             own updates: lag is the time to compute, one own update and the way
///                             there and back (equal clocks: 1 without delay, 3 with one step)
///   rho_j * W_j + 1/2         gradients of j were begun before an own one and come after it.
/// Until a gradient of j that knows an own update has arrived, j is taken for a worker of the same
/// speed: it has made as many as this one. Whoever falls silent for ten of its intervals is gone.
/// When it returns, its rate is measured again, over the time that its first gradient took, and the
/// lag of this one is left out: it is as old as the silence, which says nothing of those after it.
/// Relays, folds and joins need no case of their own: only names count.
class MissingUpdates {
 public:
  /// `workers`: how many there are from the beginning; 0: nobody knows, they come and go.
  explicit MissingUpdates(WorkerId self, std::size_t workers = 0);

  /// A foreign gradient was applied when `own` updates had been made.
  void applied(const GradientFacts& gradient, std::uint64_t own);
  /// The replica was replaced: what was measured means nothing for it.
  void forget();

  /// How many missing updates one of those own updates stands for, on average, whose age is in
  /// [age, age + length); the newest of `own` has age 0. An own update stands for rho_j of j if it
  /// is among the last W_j.
  double weight(double age, double length, std::uint64_t own) const;
  /// The largest W_j: older own updates stand for nothing.
  double oldest(std::uint64_t own) const;

  /// The sum of rho_j W_j: what own updates stand for; and the mean of the W_j.
  double delayed(std::uint64_t own) const;
  double mean_window(std::uint64_t own) const;
  /// The expected number of foreign gradients begun before an own one and applied after it.
  double expected(std::uint64_t own) const;
  /// Pairs of an own and a foreign gradient neither of which knew of the other, so far. In half of
  /// all pairs of a run the own one was begun first, whoever counts them.
  std::uint64_t concurrent_pairs() const { return concurrent_pairs_; }

 private:
  /// What has arrived from one worker.
  struct Peer {
    double all = 0;               ///< gradients
    double first = 0, last = 0;   ///< own updates before the first and the last of them
    double arrivals = 0;          ///< the last of them, ...
    double since = 0;             ///< ... and own updates before these
    double lags = 0, lagged = 0;  ///< sum and number of their lags, where they are known
  };
  struct Window {
    double rho = 0, length = 0;
  };
  Window window(const Peer& peer, double own) const;
  static bool is_gone(const Peer& peer, double own);
  const std::vector<Window>& windows(std::uint64_t own) const;

  const WorkerId self_;
  const std::size_t workers_;
  std::vector<Peer> peers_;  // by origin
  double first_arrival_;     // of anybody, in own updates
  // Of the peers that have one, in their order; between two gradients they are asked for many
  // times.
  mutable std::vector<Window> windows_;
  mutable std::optional<std::uint64_t> windows_at_;  // that many own updates
  std::uint64_t concurrent_pairs_ = 0;
};

}  // namespace dasgd
