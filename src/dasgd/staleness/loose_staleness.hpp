// The loose staleness S_hat of Definition 1, evaluated when the gradients it needs have arrived.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "dasgd/core/gradient_set.hpp"

namespace dasgd {

/// One worker's applications whose S_hat could not be told at once, because the applied gradient
/// knew gradients that had not arrived. With C the smallest set that contains g and, with every h,
/// all of D(h) \ G_i^t:  |S_hat| = |C| - 1 + |G_i^t| - |G_i^t intersected with all D(h), h in C|.
///
/// A worker's set only grows, so the compute sets of one origin are nested: of each origin in C the
/// last one says what C contains, and the first one what all have in common. So an application that
/// misses thousands of gradients waits for two of each origin.
class LooseStaleness {
 public:
  /// The gradient with this compute set is being applied in state `before`. Returns the S_hat
  /// values that can be told now, of this application and of earlier ones.
  std::vector<std::uint64_t> apply(GradientName name, const GradientSet& compute_set,
                                   const GradientSet& before, bool something_missing);

 private:
  struct Pending {
    GradientSet before;   // G_i^t
    GradientSet reached;  // G_i^t and C without g
    GradientSet common;   // G_i^t intersected with the compute sets seen so far
    GradientSet seen;     // members of C whose compute sets these are
  };
  /// Looks at all compute sets that are needed and known; the name that it waits for, if any.
  std::optional<GradientName> advance(Pending& pending) const;
  void settle(Pending pending, std::vector<std::uint64_t>& told);

  std::multimap<GradientName, Pending> pending_;  // by the gradient that is awaited
  std::map<GradientName, GradientSet> known_;     // compute sets since the first pending one
};

}  // namespace dasgd
