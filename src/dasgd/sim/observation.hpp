// What an observer sees of simulated workers.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/sim/account.hpp"
#include "dasgd/sim/agent.hpp"
#include "dasgd/virtual_time/observer.hpp"

namespace dasgd {

/// Calls an observer when its instants have come. A worker's step is made when it begins, so that
/// its model of before is kept where the observer will look before it is complete.
template <typename Real>
class Observation {
 public:
  explicit Observation(const Observer<Real>& observer) : observer_(observer) {}

  /// A step is about to be made that will be complete at `until`.
  void begins(Agent<Real>& agent, Nanoseconds until) {
    if (ended_ || until <= next_) return;
    const auto x = agent.run.worker().replica().x();
    agent.before.assign(x.begin(), x.end());
  }

  /// Whether the observer looks before `time`.
  bool is_due_before(Nanoseconds time) const { return next_ < time && !ended_; }
  /// Everything before `time` has happened, once `settle(instant)` has brought the agents there.
  /// True when the observer ends the run.
  template <typename Settle>
  bool before(Nanoseconds time, const Agents<Real>& agents, Settle&& settle) {
    for (; next_ < time && !ended_; next_ = later(next_, observer_.every, "eval-every")) {
      settle(next_);
      ended_ = look(next_, agents);
    }
    return ended_;
  }
  bool ends_at_once() const { return ended_ && observer_.ends_at_once; }
  void at_the_end(Nanoseconds time, const Agents<Real>& agents) {
    if (!ended_) look(time, agents);
    ended_ = true;
  }

 private:
  bool look(Nanoseconds time, const Agents<Real>& agents) {
    Instant<Real> instant{.time = time};
    models_.clear();
    nodes_.clear();
    for (const auto& agent : agents) {
      models_.push_back(agent->before.empty() ? agent->run.worker().replica().x()
                                              : std::span<const Real>(agent->before));
      nodes_.push_back(agent->use);
      nodes_.back().messages = agent->frame_queue.sent(agent->id).messages;
      nodes_.back().sent = agent->frame_queue.sent(agent->id).bytes;
      nodes_.back().kept = kept(*agent);
      instant.gradients += agent->computed;
      instant.samples += agent->run.samples_used();
    }
    instant.models = models_;
    instant.nodes = nodes_;
    return observer_.look(instant);
  }

  // The replica, its view, a gradient, and updates that wait.
  static std::uint64_t kept(const Agent<Real>& agent) {
    const auto sums = agent.run.worker().replica().sums();
    return sums.size_bytes() + 2 * sums.size() * sizeof(Real) + bytes_waiting(agent) +
           (agent.folded ? sums.size_bytes() : 0);
  }

  static std::uint64_t bytes_waiting(const Agent<Real>& agent) {
    std::uint64_t bytes = agent.frame_queue.bytes_waiting(agent.id);
    for (const auto& waiting : agent.inbox) bytes += waiting.parcel.size_in_bytes();
    return bytes;
  }

  const Observer<Real>& observer_;
  Nanoseconds next_ = 0;
  bool ended_ = false;
  std::vector<std::span<const Real>> models_;
  std::vector<NodeUse> nodes_;
};

}  // namespace dasgd
