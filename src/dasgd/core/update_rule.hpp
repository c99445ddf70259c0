// How the origin turns a gradient into an update. Only the origin does: the step size travels
// inside the gradient, so that updates stay commutative whatever the rule.
#pragma once

#include <span>

namespace dasgd {

/// A rule may rescale or replace the gradient in place and says with which step size it is applied.
/// One instance per worker, called by that worker only.
template <typename Real>
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// Given x_i^t and a fresh gradient, leaves the direction in `gradient` and returns eta.
  virtual double prepare(std::span<const Real> x, std::span<Real> gradient) = 0;
};

/// The paper's rule: the gradient itself, with one fixed eta.
template <typename Real>
class FixedStep final : public UpdateRule<Real> {
 public:
  explicit FixedStep(double eta) : eta_(eta) {}
  double prepare(std::span<const Real>, std::span<Real>) override { return eta_; }

 private:
  double eta_;
};

}  // namespace dasgd
