// A worker's model: x_i^t = x^0 - sum of eta * g over g in G_i^t (the paper's Remark 1), exactly.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/bundle.hpp"
#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// The sum of integers behind a model. Two replicas that started from the same x^0 and applied the
/// same set of updates hold the same bits, whatever the order. Owned by one thread.
///
/// It lives in this machine's memory; a replica on a device derives from it and overrides what is
/// virtual.
template <typename Real>
class Replica {
 public:
  /// Throws InputError when x^0 has a coordinate that is not finite or out of range.
  explicit Replica(std::span<const Real> x0);
  virtual ~Replica() = default;

  /// Goes on from the exact state of another replica of the same dimension.
  virtual void restore(std::span<const Sum<Real>> sums);

  /// x_i^t. Updates are added as integers; the floating-point view is brought up to date here.
  virtual std::span<const Real> x();

  /// Adds the updates of other workers: up to eight that share a shift in one pass over memory.
  virtual void apply(std::span<const GradientPtr> gradients);
  /// Adds all that is in a bundle.
  virtual void apply(const Bundle& bundle);

  /// Rounds -eta * gradient to `update` and adds it. Returns the first coordinate that is not
  /// finite or steps too far, if there is one; then nothing was applied.
  virtual std::optional<std::size_t> apply_own(double eta, std::span<const Real> gradient,
                                               Update& update);

  /// The first coordinate that was found outside the range of the number format, if ever. Replicas
  /// still end identical (sums wrap), but x means nothing any more.
  std::optional<std::size_t> diverged_at() const { return diverged_at_; }

  std::size_t dimension() const { return x_.size(); }
  /// The exact state, for digests and checkpoints.
  virtual std::span<const Sum<Real>> sums() const { return sums_; }

 protected:
  std::vector<Sum<Real>> sums_;
  std::vector<Real> x_;
  bool x_is_current_ = false;
  std::optional<std::size_t> diverged_at_;
};

extern template class Replica<float>;
extern template class Replica<double>;

}  // namespace dasgd
