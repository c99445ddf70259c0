// A participant with what it draws in every engine alike: batches, times, chance.
#pragma once

#include <cstdint>
#include <vector>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/data/draws/batches.hpp"
#include "dasgd/lab/rivals/rival.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/run/budget.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// How long the gradients of one worker take, one after the other. The world must outlive this.
class ComputeTimes {
 public:
  ComputeTimes(const VirtualWorld& world, const TrainOptions& options, WorkerId worker)
      : world_(world), seed_(options.seed), worker_(worker), slow_(slow_factor(options, worker)) {}

  Nanoseconds next() {
    const Nanoseconds usual =
        world_.compute.draw(seed_, Purpose::compute_time, index(worker_), drawn_++);
    return slow_ == 1 ? usual : duration(static_cast<double>(usual) * slow_, "slow");
  }

 private:
  const VirtualWorld& world_;
  const std::uint64_t seed_;
  const WorkerId worker_;
  const double slow_;
  std::uint64_t drawn_ = 0;
};

template <typename Real>
struct ParticipantSlot {
  ParticipantSlot(const Objective<Real>& objective, const TrainOptions& options,
                  const VirtualWorld& world, std::size_t self, Rival<Real>& participant)
      : id(self),
        rival(participant),
        // A server draws none.
        batches({options.seed, options.sampling, options.workers, objective.samples(),
                 resolved_batch(options, objective.samples()), needed_labels(options, objective)},
                worker_id(self < options.workers ? self : 0)),
        times(world, options, worker_id(self)),
        chance(options.seed, Purpose::rival, static_cast<std::uint32_t>(self)) {}

  /// With the gradient of a worker, in bytes.
  std::size_t kept(std::size_t workers) const {
    return rival.kept() + (id < workers ? size_of(gradient) : 0);
  }

  const std::size_t id;
  Rival<Real>& rival;
  Batches batches;
  ComputeTimes times;
  Random chance;
  /// The gradient that is under way, or was the last.
  std::vector<Real> gradient;
  double loss = 0;
  std::size_t samples = 0;
};

}  // namespace dasgd
