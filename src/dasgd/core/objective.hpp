// What a worker needs to know of a learning problem: f, its stochastic gradients, and a start.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/bytes.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd {

/// How good a model is on data that it was not trained on.
struct HeldOut {
  std::optional<double> accuracy, loss;
};

/// f(x) = mean of F(x, xi) over samples xi = 0 .. samples() - 1. Derive from this to train a model
/// of your own; two functions are enough. Several workers call a const objective at the same time.
template <typename Real>
class Objective {
 public:
  using Number = Real;  ///< of the coordinates: float or double
  using Rows = std::span<const std::uint32_t>;

  virtual ~Objective() = default;

  /// d, the number of coordinates of x.
  virtual std::size_t dimension() const = 0;

  /// Writes the mean gradient of F(x, xi) over the samples in `rows` and returns the mean loss.
  virtual double gradient(std::span<const Real> x, Rows rows, std::span<Real> gradient) const = 0;

  /// How many samples there are. One means that the objective is deterministic.
  virtual std::size_t samples() const { return 1; }

  /// x^0: zero unless said otherwise.
  virtual std::vector<Real> start() const { return std::vector<Real>(dimension(), Real{0}); }

  /// Writes the gradient of f itself and returns f(x).
  virtual double full_gradient(std::span<const Real> x, std::span<Real> gradient) const {
    std::vector<std::uint32_t> all(samples());
    std::iota(all.begin(), all.end(), 0u);
    return this->gradient(x, all, gradient);
  }

  /// f(x).
  virtual double loss(std::span<const Real> x) const {
    std::vector<Real> unused(dimension());
    return full_gradient(x, unused);
  }

  /// The objective that one worker computes with, where it needs anything of its own: memory, a
  /// device, statistics that stay local. Asked for once per worker, before it begins; what is
  /// returned belongs to that worker and is called by one thread at a time, and this objective
  /// outlives it. Null: all workers share this one.
  virtual std::unique_ptr<Objective> for_worker(WorkerId) const { return nullptr; }

  /// Where such a worker keeps x: in this machine's memory unless said otherwise.
  virtual std::unique_ptr<Replica<Real>> make_replica() const {
    return std::make_unique<Replica<Real>>(start());
  }

  /// The next call of `gradient` will probably be for these rows: they may be fetched meanwhile.
  virtual void prefetch(Rows) const {}

  /// The next call of `gradient` is for the batch of this number in the worker's own sequence, and
  /// what is prefetched is the one after: whatever is drawn for a batch may depend on the number,
  /// and then repeats after a resume.
  virtual void at_batch(std::uint64_t) const {}

  /// What a worker's own objective remembers beyond x, such as statistics that stay local, for
  /// checkpoints.
  virtual Bytes state() const { return {}; }
  /// Goes on from that: from its own state, or from the mean of those of all workers where their
  /// number was another. Throws InputError for states of another objective.
  virtual void restore(std::span<const Bytes>) {}

  /// The share of right answers, on held-out data where the problem has any.
  virtual std::optional<double> accuracy(std::span<const Real>) const { return std::nullopt; }

  /// A lower bound of f, where one is known: 0 for a loss that is never negative.
  virtual std::optional<double> least_loss() const { return std::nullopt; }

  /// What evaluation during training looks at: one pass over held-out data where the problem has
  /// any. Called by a thread of its own while workers compute.
  virtual HeldOut evaluate(std::span<const Real> x) const {
    if (const auto share = accuracy(x)) return {share, std::nullopt};
    return {std::nullopt, loss(x)};
  }

  /// L, where a closed form exists: |grad f(x) - grad f(y)| <= L |x - y|.
  virtual std::optional<double> smoothness() const { return std::nullopt; }
};

}  // namespace dasgd
