// The loose staleness S_hat of Definition 1, evaluated when the gradients it needs have arrived.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "dasgd/core/gradient_set.hpp"

namespace dasgd {

/// One worker's applications whose S_hat could not be told at once, because the applied gradient
/// knew gradients that had not arrived. With C the smallest set that contains g and, with every h,
/// all of D(h) \ G_i^t:  |S_hat| = |C| - 1 + |union of G_i^t \ D(h) over h in C|.
class LooseStaleness {
 public:
  /// The gradient with this compute set is being applied in state `before`. Returns the S_hat
  /// values that can be told now, of this application and of earlier ones.
  std::vector<std::uint64_t> apply(GradientName name, const GradientSet& compute_set,
                                   const GradientSet& before, bool something_missing);

  /// How many applications still wait.
  std::size_t pending() const { return pending_.size(); }

 private:
  struct Pending {
    GradientSet before;              // G_i^t
    std::set<GradientName> closure;  // C
    std::set<GradientName> awaited;  // members of C whose compute set is not known yet
    std::set<GradientName> absent;   // union of G_i^t \ D(h)
  };
  void visit(Pending& pending, GradientName member, const GradientSet& compute_set);

  std::vector<Pending> pending_;
  std::map<GradientName, GradientSet> known_;  // compute sets seen since the oldest pending one
};

}  // namespace dasgd
