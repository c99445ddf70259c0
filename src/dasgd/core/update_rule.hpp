// How the origin turns a gradient into an update. Only the origin does: the step size travels
// inside the gradient, so that updates stay commutative whatever the rule.
#pragma once

#include <cstdint>
#include <span>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd {

/// A rule may rescale or replace the gradient in place and says with which step size it is applied.
/// One instance per worker, called by that worker only. More rules: dasgd/rules.
template <typename Real>
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// Given t, the replica that holds x_i^t and a fresh gradient, leaves the direction in `gradient`
  /// and returns eta.
  virtual double prepare(std::uint64_t t, Replica<Real>& replica, std::span<Real> gradient) = 0;

  /// What the rule remembers of earlier gradients, for checkpoints.
  virtual Bytes state() const { return {}; }
  /// Goes on from the state of another instance; false, and nothing has changed, if that was a rule
  /// of another kind.
  virtual bool restore(std::span<const std::byte> state) { return state.empty(); }
};

/// The paper's rule: the gradient itself, with one fixed eta.
template <typename Real>
class FixedStep final : public UpdateRule<Real> {
 public:
  explicit FixedStep(double eta) : eta_(eta) {}
  double prepare(std::uint64_t, Replica<Real>&, std::span<Real>) override { return eta_; }

 private:
  double eta_;
};

}  // namespace dasgd
