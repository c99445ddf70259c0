// Turns what a worker reports into staleness, exactly, in any order of delivery.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/staleness/causal_weights.hpp"
#include "dasgd/staleness/loose_staleness.hpp"
#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

/// The staleness of one application.
struct Staleness {
  std::uint64_t S = 0;  ///< |S|
  std::optional<std::uint64_t>
      S_hat;  ///< |S_hat|; nothing while it needs gradients still on their way
};

/// w_g of the trace certificate: for every gradient g the sum of |S_t| over the applications t
/// whose S_t contains g. Keeps a window per origin and forgets gradients that no later S_t can
/// contain.
class CertificateWeights {
 public:
  explicit CertificateWeights(std::size_t workers);
  /// Goes on where delivery was causal until now.
  CertificateWeights(std::size_t workers, const CausalWeights& before);

  /// Adds |S_t| for every member of S_t = before symmetric-difference compute_set.
  void add(const GradientSet& before, const GradientSet& compute_set, std::uint64_t staleness);
  /// Records that a gradient was applied that continues its origin's prefix: later gradients of
  /// that origin know everything in `compute_set`.
  void note(WorkerId origin, const GradientSet& compute_set);
  /// The largest w_g so far. Takes as long as what it keeps; adding takes no longer for a large S_t
  /// than for a small one.
  std::uint64_t largest() const;

 private:
  void add_range(WorkerId origin, std::uint32_t first, std::uint32_t last, std::uint64_t weight);
  void forget_known();

  // The weights as differences: w of first + k is the sum of steps[0 .. k].
  struct Window {
    std::uint32_t first = 0;
    std::deque<std::int64_t> steps;
  };
  std::vector<Window> windows_;  // per origin
  std::uint64_t largest_ = 0;    // of those that were forgotten
  CommonNames known_;            // what no later S_t can contain
};

/// One worker's account of staleness. Mirrors G_i^t from what is recorded, so that it serves real
/// runs, simulations and traces alike.
class Ledger {
 public:
  /// The weights of the certificate take O(n) per application once one was not causal, and are then
  /// kept up to this many workers.
  static constexpr std::size_t most_workers_with_weights = 128;
  /// S_hat of an application that misses something takes up to 8 n^2 bytes to read, and is known up
  /// to this many workers. Beyond them an application costs O(n), whatever is missing.
  static constexpr std::size_t most_workers_with_S_hat = 128;

  /// With `only_S` neither W nor S_hat is measured.
  explicit Ledger(std::size_t workers, bool only_S = false) : applied_(workers) {
    if (only_S) return;
    if (workers <= CausalWeights::most_workers) looking_back_.emplace(workers);
    if (workers <= most_workers_with_S_hat) loose_.emplace();
  }
  /// Of a worker among members that come and go: no weights are kept.
  Ledger() { loose_.emplace(); }

  /// The worker applies `gradient` now. |S| = t - s + 2 |missing|, missing = D(g) \ G_i^t: an
  /// identity in any order of delivery (THEORY: t - s alone is right only where nothing is
  /// missing).
  Staleness record(const GradientFacts& gradient);

  /// The worker goes on with another set, which is not an application. Applications whose S_hat
  /// waited for gradients remain unknown.
  void adopt(const GradientSet& applied) {
    applied_ = applied;
    if (loose_) loose_.emplace();
  }

  const StalenessStatistics& S() const { return S_; }
  /// Of fewer applications than `S` where some are not known; `dasgd check` has S_hat of any trace.
  const StalenessStatistics& S_hat() const { return S_hat_; }
  /// Nothing where the weights are not kept; `dasgd check` has W of any trace.
  std::optional<std::uint64_t> W() const {
    if (looking_back_) return looking_back_->largest();
    return weights_ ? std::optional(weights_->largest()) : std::nullopt;
  }
  /// Applications of a gradient that knew a gradient that was not here yet.
  std::uint64_t noncausal_applications() const { return noncausal_; }

 private:
  void weigh(const GradientFacts& gradient, std::uint64_t S, bool causal);

  GradientSet applied_;
  StalenessStatistics S_, S_hat_;
  std::optional<LooseStaleness> loose_;
  std::optional<CausalWeights> looking_back_;  // until an application is not causal
  std::optional<CertificateWeights> weights_;  // from then on
  std::uint64_t noncausal_ = 0;
};

}  // namespace dasgd
