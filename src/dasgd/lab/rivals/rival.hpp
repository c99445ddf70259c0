// An algorithm that is compared with DASGD, as its participants see it: what they do when a
// gradient is computed and when a message arrives. Nothing in it can wait: a barrier is a
// participant that does not ask for its next gradient yet.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

/// Numbers that several may hold and none changes.
template <typename Real>
using Shared = std::shared_ptr<const std::vector<Real>>;

template <typename Real>
Shared<Real> share(std::span<const Real> numbers) {
  return std::make_shared<const std::vector<Real>>(numbers.begin(), numbers.end());
}

/// What travels between participants.
template <typename Real>
struct RivalMessage {
  Shared<Real> numbers;
  std::uint64_t version = 0;  ///< in the rival's own meaning, like the next two
  std::uint32_t tag = 0;
  double weight = 0;
  std::size_t from = 0;  ///< filled in on the way
  double share = 1;      ///< what its numbers take on the wire, as a share of their bytes

  std::size_t count() const { return numbers ? numbers->size() : 0; }
  /// On the wire, without a header.
  std::size_t bytes() const { return bytes_of(static_cast<double>(count())); }
  std::size_t bytes_of(double of_numbers) const {
    return static_cast<std::size_t>(std::ceil(of_numbers * sizeof(Real) * share));
  }
};

/// What a participant can do. Everything happens at the participant's own time: after what it has
/// charged.
template <typename Real>
class Port {
 public:
  virtual ~Port() = default;
  /// Asks for a gradient at `point` as it is now; `computed` is called when it is ready. One at a
  /// time.
  virtual void compute(std::span<const Real> point) = 0;
  /// The gradient that is under way is not wanted: `computed` will not be called for it. With
  /// preemption it stops at once, else it is finished in vain before the next one begins.
  virtual void cancel() = 0;
  /// Links are FIFO.
  virtual void send(std::size_t to, RivalMessage<Real> letter) = 0;
  /// Advances this participant's clock by the time of this many passes over a vector of the model's
  /// size.
  virtual void charge(double passes) = 0;
  /// Gradients that have arrived and are thrown away.
  virtual void discard(std::uint64_t gradients) = 0;
  /// Numbers that another worker had changed meanwhile and that were overwritten.
  virtual void overwrite(std::uint64_t) {}
  /// For the measurement of staleness. Call it just before a multiple of `gradients` (one gradient
  /// or a sum) is subtracted from `model`.
  virtual void updating(std::span<const Real> model, std::span<const Real> gradients) = 0;
  /// Sums up the vectors of all workers where the engine has a way of its own to do that, like
  /// MPI_Allreduce. False: it has none, and letters must do.
  virtual bool sum_over_workers(std::span<Real>) { return false; }
  /// All workers bring a vector, and each gets a letter with the sum when a ring would have it: by
  /// all-reduce, or, where `gathered` is not 0, by all-gather of such a share of their bytes.
  /// False: the engine does not do that.
  virtual bool meet(std::span<const Real>, double /*gathered*/) { return false; }
  virtual Nanoseconds now() const = 0;
  /// A stream of this participant's own.
  virtual Random& random() = 0;
};

/// One participant; a server is one as well, and never asks for a gradient. Called by one thread at
/// a time.
template <typename Real>
class Rival {
 public:
  virtual ~Rival() = default;
  virtual void start(Port<Real>& port) = 0;
  /// The gradient is valid until this returns.
  virtual void computed(Port<Real>& port, std::span<const Real> gradient, double loss) = 0;
  virtual void received(Port<Real>& port, const RivalMessage<Real>& letter) = 0;
  /// The model that it answers for; empty where it holds none of its own, like the worker of a
  /// server.
  virtual std::span<const Real> model() const = 0;
  /// What it has of a model that all share: without own steps that the others will hear of later.
  virtual std::span<const Real> common() const { return model(); }
  /// What it keeps between two calls, in bytes.
  virtual std::size_t kept() const { return model().size_bytes(); }
};

/// Together, in bytes.
template <typename... Vectors>
std::size_t size_of(const Vectors&... vectors) {
  return (0 + ... + (vectors.size() * sizeof(vectors[0])));
}

/// The first ones are the workers, which compute.
template <typename Real>
using Participants = std::vector<std::unique_ptr<Rival<Real>>>;

}  // namespace dasgd
