// Evaluates models for the referee.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>

#include "dasgd/core/objective.hpp"

namespace dasgd {

/// Many runs pass through the same models: rivals that are equal in a limit, one round that lasts
/// several looks. Whoever comes with the bits of a model that was evaluated before gets its answer.
/// Any thread.
template <typename Real>
class ModelJudge {
 public:
  explicit ModelJudge(const Objective<Real>& objective) : objective_(objective) {}

  /// With a loss in any case: that of the training data where none is held out.
  HeldOut evaluate(std::span<const Real> x);
  const Objective<Real>& objective() const { return objective_; }
  /// How many were evaluated; the others were known.
  std::size_t evaluated() const;

 private:
  using Fingerprint = std::array<std::uint64_t, 2>;

  const Objective<Real>& objective_;
  mutable std::mutex mutex_;  // guards what is known
  std::map<Fingerprint, HeldOut> known_;
};

extern template class ModelJudge<float>;
extern template class ModelJudge<double>;

}  // namespace dasgd
