// A learning problem as all workers share it: f, its stochastic gradients, and a start.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/core/held_out.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/core/oracle.hpp"
#include "dasgd/core/samples.hpp"

namespace dasgd {

/// What is known of f in closed form.
struct KnownConstants {
  std::optional<double> smoothness;  ///< L: |grad f(x) - grad f(y)| <= L |x - y|
  std::optional<double> least_loss;  ///< a lower bound of f: 0 for a loss that is never negative
};

/// f(x) = mean of F(x, xi) over samples xi = 0 .. samples() - 1. Derive from this to train a model
/// of your own; two functions are enough. It is shared: several threads call it at the same time.
template <typename Real>
class Objective {
 public:
  using Scalar = Real;  ///< the type of the coordinates: float or double
  using Rows = dasgd::Rows;

  virtual ~Objective() = default;

  /// d, the number of coordinates of x.
  virtual std::size_t dimension() const = 0;

  /// Writes the mean gradient of F(x, xi) over the samples in `rows` and returns the mean loss. All
  /// of `gradient` must be written: it is not zeroed before. Several threads call this at once.
  virtual double gradient(std::span<const Real> x, Rows rows, std::span<Real> gradient) const = 0;

  /// How many samples there are. One means that the objective is deterministic.
  virtual std::size_t samples() const { return 1; }

  /// The class of every sample, from 0; empty where samples have none.
  virtual std::vector<std::uint32_t> labels() const { return {}; }

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

  /// What evaluation during training asks: one pass over the validation part where the problem has
  /// one, f(x) otherwise. Called by a thread of its own while workers compute.
  virtual HeldOut evaluate(std::span<const Real> x) const { return {std::nullopt, loss(x)}; }
  /// The part that `evaluate` looks at.
  virtual std::string evaluated_part() const { return "train"; }
  /// All that can be said of every part that was held out, or of the training part where none was;
  /// asked once, when a run has ended.
  virtual std::vector<PartFigures> examine(std::span<const Real>) const { return {}; }

  virtual KnownConstants known() const { return {}; }

  /// How many of these samples x answers rightly; std::nullopt where answers are not
  /// classes.
  virtual std::optional<std::size_t> right_answers(std::span<const Real>, Rows) const {
    return std::nullopt;
  }
  /// Where samples arrive while a run goes: how many, and how well they were answered.
  virtual std::optional<ArrivalFigures> arrivals() const { return std::nullopt; }

  /// What makes buffers on the device of all these workers; empty unless they share one.
  virtual DeviceBuffers device_of(std::span<const WorkerId>) const { return {}; }

  /// What a worker computes with: `gradient`, unless it needs anything of its own. Asked for once
  /// per worker, before it begins; this objective outlives it.
  virtual std::unique_ptr<Oracle<Real>> make_oracle(WorkerId) const {
    return std::make_unique<Shared>(*this);
  }

 private:
  struct Shared final : Oracle<Real> {
    explicit Shared(const Objective& all) : objective(all) {}
    double gradient(ComputePoint<Real>& point, const Batch& batch, std::span<Real> g) override {
      return objective.gradient(point.y(), batch.rows, g);
    }
    const Objective& objective;
  };
};

}  // namespace dasgd
