// The update rules of `dasgd train` for rivals, so that like is compared with like.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/replica.hpp"
#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/vectors.hpp"
#include "dasgd/rules/stages.hpp"

namespace dasgd {

/// `rule` and its numbers, of a rival that can have another rule than plain steps.
inline std::vector<RivalParameter> rule_parameters(const std::string& usual = "sgd") {
  const std::vector<std::string> words{"sgd", "momentum", "nesterov", "adam"};
  return {{.name = "rule",
           .meaning = "update rule: sgd, momentum, nesterov, adam",
           .usual = static_cast<double>(std::ranges::find(words, usual) - words.begin()),
           .words = words},
          {"momentum", "mu of momentum and nesterov", 0.9, 0, 0.999, false},
          {"beta2", "of adam", 0.999, 0, 0.99999, false}};
}

/// Steps by a rule that remembers its own gradients, as rules/stages.hpp says.
template <typename Real>
class RivalRule {
 public:
  explicit RivalRule(const RivalSetup<Real>& setup) {
    const std::size_t word = setup.count("rule");
    const char* const mu = setup.numbers.contains("inner_momentum") ? "inner_momentum" : "momentum";
    if (word == 1 || word == 2)
      stage_ = std::make_unique<Momentum<Real>>(setup.number(mu), word == 2);
    if (word == 3) stage_ = std::make_unique<Adam<Real>>(0.9, setup.number("beta2"), 1e-8);
    vectors_ = word == 3 ? 2 : word > 0 ? 1 : 0;
  }

  /// x -= lr * gradient, or the direction that the rule makes of it. `weight`: how many gradients
  /// it is the sum of; a rule sees their mean.
  void step(Port<Real>& port, std::span<Real> x, double lr, std::span<const Real> gradient,
            double weight = 1) {
    if (!stage_) {
      port.updating(x, gradient);
      subtract<Real>(x, lr, gradient);
    } else {
      direction_.assign(gradient.begin(), gradient.end());
      if (weight != 1) scale<Real>(direction_, 1 / weight);
      stage_->transform(nothing_, direction_);
      subtract<Real>(x, lr * weight, direction_);
    }
    port.charge(1 + vectors_);
  }
  std::size_t kept() const { return static_cast<std::size_t>(vectors_) * size_of(direction_); }

 private:
  HostReplica<Real> nothing_{std::span<const Real>()};  // these rules do not look at x
  std::unique_ptr<Stage<Real>> stage_;                  // null: plain steps
  double vectors_ = 0;                                  // that the stage keeps
  std::vector<Real> direction_;
};

}  // namespace dasgd
