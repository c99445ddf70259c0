// What one worker asks for gradients: line 11 of Algorithm 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/compute_point.hpp"
#include "dasgd/core/replica.hpp"
#include "dasgd/core/samples.hpp"
#include "dasgd/core/update_rule.hpp"

namespace dasgd {

/// What `Oracle::whole_step` did.
struct WholeStep {
  /// A gradient that could not become an update, or an x that left the range of its numbers.
  struct Divergence {
    std::uint32_t steps_ago = 0;  ///< 0: the one that was asked for
    std::size_t coordinate = 0;
    double value = 0, eta = 0;
  };

  double eta = 0;
  double loss = 0;  ///< of this gradient, or of the one before: see `run_ahead`
  std::optional<Divergence> divergence;  ///< then no step was made
};

/// The stochastic gradients of an objective as one worker computes them, with whatever it keeps for
/// itself: memory, a device, statistics that stay local. Called by one thread at a time.
template <typename Real>
class Oracle {
 public:
  virtual ~Oracle() = default;

  /// Writes the mean gradient of F(y, xi) over the samples of the batch, y being the point at which
  /// the worker computes, and returns the mean loss.
  virtual double gradient(ComputePoint<Real>& point, const Batch& batch,
                          std::span<Real> gradient) = 0;

  /// Whether `whole_step` is worth asking.
  virtual bool makes_whole_steps() const { return false; }
  /// Lines 11 and 12 at once, where all of it happens on a device: computes a gradient, follows the
  /// rule's recipe, rounds, adds the update to the replica and leaves it in `update`. std::nullopt:
  /// the worker does these steps one by one.
  virtual std::optional<WholeStep> whole_step(ComputePoint<Real>&, const Batch&, UpdateRule<Real>&,
                                              std::uint64_t /*t*/, Update&) {
    return std::nullopt;
  }
  /// From now on `whole_step` may return while the device still computes. It then reports the loss
  /// of the gradient before, and of a divergence one step late: that update was zero.
  virtual void run_ahead() {}
  /// Gives the rule what it would remember had it done the steps itself.
  virtual void give_memory_back(UpdateRule<Real>&) {}

  /// Where the worker keeps x: in this machine's memory unless said otherwise.
  virtual std::unique_ptr<Replica<Real>> make_replica(std::span<const Real> x0) {
    return std::make_unique<HostReplica<Real>>(x0);
  }

  /// Called once, before the first gradient: the point at which the worker computes from now on.
  virtual void computes_at(ComputePoint<Real>&) {}

  /// What it carries over from one gradient to the next beyond x, for checkpoints.
  virtual Bytes state() const { return {}; }
  /// Goes on from that: from its own state, or from the mean of those of all workers where their
  /// number was another. Throws InputError for states of another objective.
  virtual void restore(std::span<const Bytes>) {}
};

}  // namespace dasgd
