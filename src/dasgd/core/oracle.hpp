// What one worker asks for gradients: line 11 of Algorithm 1.
#pragma once

#include <memory>
#include <span>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/replica.hpp"
#include "dasgd/core/samples.hpp"

namespace dasgd {

/// The stochastic gradients of an objective as one worker computes them, with whatever it keeps for
/// itself: memory, a device, statistics that stay local. Called by one thread at a time.
template <typename Real>
class Oracle {
 public:
  virtual ~Oracle() = default;

  /// Writes the mean gradient of F(x, xi) over the samples of the batch, x being that of the
  /// worker's replica, and returns the mean loss.
  virtual double gradient(Replica<Real>& replica, const Batch& batch, std::span<Real> gradient) = 0;

  /// Where the worker keeps x: in this machine's memory unless said otherwise.
  virtual std::unique_ptr<Replica<Real>> make_replica(std::span<const Real> x0) {
    return std::make_unique<HostReplica<Real>>(x0);
  }

  /// What it carries over from one gradient to the next beyond x, for checkpoints.
  virtual Bytes state() const { return {}; }
  /// Goes on from that: from its own state, or from the mean of those of all workers where their
  /// number was another. Throws InputError for states of another objective.
  virtual void restore(std::span<const Bytes>) {}
};

}  // namespace dasgd
