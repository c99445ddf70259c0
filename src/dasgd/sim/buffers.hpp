// The buffers of simulated workers: as many as real ones have for gradients that are on their way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dasgd/sim/agent.hpp"

namespace dasgd {

/// A worker has a buffer back when every other worker has begun to apply its gradient or has folded
/// it. Where links fold, buffers are free at once.
template <typename Real>
class SimulatedBuffers {
 public:
  SimulatedBuffers(std::size_t of_a_worker, bool links_fold, const Agents<Real>& agents)
      : most_(of_a_worker), links_fold_(links_fold), agents_(agents) {}

  bool are_taken(const Agent<Real>& agent) const { return agent.gradients_in_flight >= most_; }
  bool are_fewer_than(std::size_t gradients) const { return most_ < gradients; }
  void take(Agent<Real>& agent, const Gradient& own) {
    if (links_fold_ || agents_.size() == 1) return;
    static_cast<const SimulatedGradient&>(own).receivers =
        static_cast<std::uint32_t>(agents_.size() - 1);
    ++agent.gradients_in_flight;
  }
  void give_back(const Parcel& parcel) {
    if (links_fold_) return;
    const auto& gradient = static_cast<const SimulatedGradient&>(*parcel.gradient);
    if (--gradient.receivers == 0) --agents_[index(gradient.name.origin)]->gradients_in_flight;
  }

 private:
  const std::size_t most_;
  const bool links_fold_;
  const Agents<Real>& agents_;
};

}  // namespace dasgd
