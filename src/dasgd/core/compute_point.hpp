// Where a worker computes its gradients: at its replica x, or with look-ahead at a private point y.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/core/look_ahead_plan.hpp"
#include "dasgd/core/recent_updates.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd {

/// y = x + lambda * sum of w * u over own recent updates u, each of which stands for w missing
/// updates of others (all draw from one distribution, so own ones are the best guess). When the
/// real ones arrive, the guess is withdrawn: with `auto` and long windows little by little, see
/// LookAheadPlan::pull. y never leaves the worker: it is not sent, saved,
/// evaluated or compared. With look-ahead off y is x. Owned by one thread, like the replica, which
/// must outlive it.
template <typename Real>
class ComputePoint {
 public:
  /// `averaged`: see LookAheadPlan.
  explicit ComputePoint(Replica<Real>& replica, WorkerId self = {}, LookAhead how = {},
                        double averaged = 1)
      : replica_(replica),
        plan_(self, how, averaged),
        recent_(Recent::most_blocks(replica.dimension() * sizeof(Real))) {}

  /// The exact replica, and what is decided, for whoever computes where those are.
  Replica<Real>& replica() { return replica_; }
  LookAheadPlan& plan() { return plan_; }
  const LookAheadPlan& plan() const { return plan_; }

  /// y for the next gradient, valid until the next update.
  std::span<const Real> y();
  /// The same again.
  std::span<const Real> last_y() const { return last_y_; }

  /// The worker reports: a foreign gradient was applied; an own one was made and applied; x was
  /// replaced or moved otherwise, when `own` updates had been made.
  void applied(const GradientFacts& gradient) {
    if (!plan_.is_off()) plan_.applied(gradient);
  }
  void made(double eta, std::span<const Real> direction);
  void replaced(std::uint64_t own) {
    plan_.replaced(own);
    recent_.clear();
    continues_ = false;
  }

  /// No further gradient will be computed: what y was made of takes no memory any more.
  void forget() {
    recent_.clear();
    for (auto* const numbers : {&y_, &target_, &compared_}) *numbers = std::vector<Real>();
    continues_ = false;
    last_y_ = {};
  }

 private:
  using Recent = RecentUpdates<std::vector<Real>>;

  std::span<const Real> ahead_of(std::span<const Real> x);
  void compare(std::span<const Real> direction);

  Replica<Real>& replica_;
  LookAheadPlan plan_;
  Recent recent_;
  std::vector<Real> y_, target_, compared_;
  double compared_square_ = 0;  // of the norm of compared_
  bool continues_ = false;      // from y_, which own updates move as they moved the guesses
  std::span<const Real> last_y_;
};

extern template class ComputePoint<float>;
extern template class ComputePoint<double>;

}  // namespace dasgd
