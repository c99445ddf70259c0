// W of the trace certificate where delivery is causal, for many workers.
#pragma once

#include <cstdint>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/staleness/known_by_all.hpp"

namespace dasgd {

/// The weights of CertificateWeights for one worker whose gradients know nothing that has not
/// arrived: S_t is then a part of what the worker applied last, of known size, and is found by
/// looking back. Takes O(|S_t|) per application, in memory that is read in a row.
class CausalWeights {
 public:
  /// What was applied and may still be missing from a gradient takes 16 bytes at every worker: up
  /// to this many workers it is kept.
  static constexpr std::size_t most_workers = 512;

  explicit CausalWeights(std::size_t workers) : known_(workers) {}

  /// The worker applies `gradient`, of this staleness, now.
  void apply(const GradientFacts& gradient, std::uint64_t staleness);
  /// The largest w_g so far.
  std::uint64_t largest() const { return largest_; }

  struct Applied {
    GradientName name;
    std::uint64_t weight = 0;
  };
  /// What later gradients may still lack, in the order of application, and what all of them know.
  const std::vector<Applied>& kept() const { return applied_; }
  const KnownByAll& known() const { return known_; }

 private:
  void forget();

  std::vector<Applied> applied_;
  KnownByAll known_;
  std::uint64_t largest_ = 0;
};

}  // namespace dasgd
