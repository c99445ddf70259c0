// How the origin turns a gradient into an update. Only the origin does: the step size travels
// inside the gradient, so that updates stay commutative whatever the rule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd {

/// The steps of a built-in rule, in this order, so that a device can apply them where the gradient
/// is. rules/stages.hpp has the formulas.
struct Recipe {
  enum class Direction { gradient, momentum, nesterov, adam };

  std::optional<double> clip;  ///< the largest norm
  double decay = 0;            ///< this times x is added to the gradient
  Direction direction = Direction::gradient;
  double mu = 0;                             ///< for momentum and nesterov
  double beta1 = 0, beta2 = 0, epsilon = 0;  ///< for adam
  double decoupled_decay = 0;                ///< this times x is added to the direction
};

/// The noise of a direction equals that of a mean of this many gradients.
inline double gradients_averaged(const Recipe& recipe) {
  const bool has_mean = recipe.direction == Recipe::Direction::adam;
  const bool has_velocity = recipe.direction != Recipe::Direction::gradient && !has_mean;
  const double kept = has_mean ? recipe.beta1 : has_velocity ? recipe.mu : 0;
  return (1 + kept) / (1 - kept);
}

/// What a direction remembers of earlier gradients. Empty vectors: zeros.
template <typename Real>
struct DirectionMemory {
  std::uint64_t seen = 0;           ///< gradients, where the direction counts them
  std::vector<Real> first, second;  ///< velocity; or the running means of g and g^2
};

/// A rule may rescale or replace the gradient in place and says with which step size it is applied.
/// One instance per worker, called by that worker only. More rules: dasgd/rules.
template <typename Real>
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// Given t, the replica that holds x_i^t and a fresh gradient, leaves the direction in `gradient`
  /// and returns eta.
  virtual double prepare(std::uint64_t t, Replica<Real>& replica, std::span<Real> gradient) = 0;

  /// What `prepare` does to the gradient; std::nullopt: only the rule itself can do it.
  virtual std::optional<Recipe> recipe() const { return std::nullopt; }
  /// What `prepare` would return at t, for code that follows the recipe instead of calling it.
  virtual double step_size(std::uint64_t /*t*/) { return 0; }
  /// For code that follows the recipe instead of calling `prepare`: it calls `memory` at the
  /// beginning, and `remember` before `state` is called.
  virtual DirectionMemory<Real> memory() const { return {}; }
  virtual void remember(DirectionMemory<Real>) {}

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
  std::optional<Recipe> recipe() const override { return Recipe{}; }
  double step_size(std::uint64_t) override { return eta_; }

 private:
  double eta_;
};

}  // namespace dasgd
