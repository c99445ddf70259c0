// The loose staleness S_hat of Definition 1, evaluated when the gradients it needs have arrived.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "dasgd/core/gradient_set.hpp"

namespace dasgd {

/// One worker's applications whose S_hat could not be told at once, because the applied gradient
/// knew gradients that had not arrived. With C the smallest set that contains g and, with every h,
/// all of D(h) \ G_i^t:  |S_hat| = |C| - 1 + |G_i^t| - |G_i^t intersected with all D(h), h in C|.
class LooseStaleness {
 public:
  /// The gradient with this compute set is being applied in state `before`. Returns the S_hat
  /// values that can be told now, of this application and of earlier ones.
  std::vector<std::uint64_t> apply(GradientName name, const GradientSet& compute_set,
                                   const GradientSet& before, bool something_missing);

 private:
  struct Pending {
    std::uint64_t t;                    // |G_i^t|
    GradientSet before;                 // G_i^t
    GradientSet reached;                // G_i^t and C without g
    GradientSet common;                 // G_i^t intersected with the compute sets seen so far
    std::vector<GradientName> awaited;  // members of C whose compute set is not known yet
  };
  struct Known {
    std::uint64_t t;  // when it was applied
    GradientName name;
    GradientSet compute_set;
  };
  void visit(Pending& pending, const GradientSet& compute_set);
  void visit_known(Pending& pending);

  std::vector<Pending> pending_;
  std::deque<Known> known_;  // what was applied since the oldest pending application, in order
};

}  // namespace dasgd
