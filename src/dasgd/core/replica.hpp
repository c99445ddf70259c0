// A worker's model: x_i^t = x^0 - sum of eta * g over g in G_i^t (the paper's Remark 1), exactly.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/bundle.hpp"
#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// The sum of integers behind a model, wherever it lives. Two replicas that started from the same
/// x^0 and applied the same set of updates hold the same bits, whatever the order. Owned by one
/// thread.
template <typename Real>
class Replica {
 public:
  virtual ~Replica() = default;

  virtual std::size_t dimension() const = 0;
  /// Goes on from the exact state of another replica of the same dimension.
  virtual void restore(std::span<const Sum<Real>> sums) = 0;

  /// x_i^t, valid until the next update. Updates are added as integers; the floating-point view is
  /// brought up to date here.
  virtual std::span<const Real> x() = 0;
  /// The exact state, for digests and checkpoints; valid until the next update.
  virtual std::span<const Sum<Real>> sums() const = 0;

  /// Adds the updates of other workers: up to eight that share a shift in one pass over memory.
  virtual void apply(std::span<const GradientPtr> gradients) = 0;
  /// Adds all that is in a bundle.
  virtual void apply(const Bundle& bundle) = 0;
  /// Rounds -eta * gradient to `update` and adds it. Returns the first coordinate that is not
  /// finite or steps too far, if there is one; then nothing was applied.
  virtual std::optional<std::size_t> apply_own(double eta, std::span<const Real> gradient,
                                               Update& update) = 0;

  /// The first coordinate that was found outside the range of the number format, if ever. Replicas
  /// still end identical (sums wrap), but x means nothing any more.
  virtual std::optional<std::size_t> diverged_at() const = 0;
};

/// A replica in this machine's memory.
template <typename Real>
class HostReplica : public Replica<Real> {
 public:
  /// Throws InputError when x^0 has a coordinate that is not finite or out of range.
  explicit HostReplica(std::span<const Real> x0);

  std::size_t dimension() const override { return x_.size(); }
  void restore(std::span<const Sum<Real>> sums) override;
  std::span<const Real> x() override;
  std::span<const Sum<Real>> sums() const override { return sums_; }
  void apply(std::span<const GradientPtr> gradients) override;
  void apply(const Bundle& bundle) override;
  std::optional<std::size_t> apply_own(double eta, std::span<const Real> gradient,
                                       Update& update) override;
  std::optional<std::size_t> diverged_at() const override { return diverged_at_; }

 private:
  std::vector<Sum<Real>> sums_;
  std::vector<Real> x_;
  bool x_is_current_ = false;
  std::optional<std::size_t> diverged_at_;
};

/// The exact sums of x^0. Throws InputError where it has a coordinate that is not finite or out of
/// range.
template <typename Real>
std::vector<Sum<Real>> sums_of(std::span<const Real> x0);

extern template class HostReplica<float>;
extern template class HostReplica<double>;

}  // namespace dasgd
