// The loose staleness S_hat of Definition 1, evaluated when the gradients it needs have arrived.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "dasgd/core/gradient_set.hpp"

namespace dasgd {

/// One worker's applications whose S_hat was not known at once, because the applied gradient
/// knew gradients that had not arrived. With C the smallest set that contains g and, with every h,
/// all of D(h) \ G_i^t:  |S_hat| = |C| - 1 + |G_i^t| - |G_i^t intersected with all D(h), h in C|.
///
/// A worker's set only grows, so the compute sets of one origin are nested: of each origin in C the
/// last one says what C contains, and the first one what all have in common. So an application that
/// misses thousands of gradients waits for two of each origin. It looks at up to 2 n compute sets
/// of n numbers each, so this is for tens of workers, not for thousands.
class LooseStaleness {
 public:
  /// The gradient with this compute set is being applied in state `before`. Returns the S_hat
  /// values that are known now, of this application and of earlier ones.
  std::vector<std::uint64_t> apply(GradientName name, const GradientSet& compute_set,
                                   const GradientSet& before, bool something_missing);
  /// How many compute sets it keeps: those applied since the oldest application that waits.
  std::size_t kept() const { return known_.size(); }

 private:
  struct Pending {
    GradientSet before;   // G_i^t
    GradientSet reached;  // G_i^t and C without g
    GradientSet common;   // G_i^t intersected with the compute sets seen so far
    GradientSet seen;     // members of C whose compute sets these are
    std::uint64_t since;  // the number of its application: C is applied from there on
  };
  struct Known {
    GradientSet compute_set;
    std::uint64_t number;  // of its application
  };
  void remember(GradientName name, const GradientSet& compute_set);
  /// Looks at all compute sets that are needed and known; the name that it waits for, if any.
  std::optional<GradientName> advance(Pending& pending) const;
  void settle(Pending pending, std::vector<std::uint64_t>& settled);

  std::multimap<GradientName, Pending> pending_;  // by the gradient that is awaited
  std::multiset<std::uint64_t> open_;             // `since` of all pending ones
  std::map<GradientName, Known> known_;           // since the oldest pending one
  std::deque<GradientName> in_order_;             // their names, as they were applied
  std::uint64_t applied_ = 0;
};

}  // namespace dasgd
