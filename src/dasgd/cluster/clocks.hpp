// One time for all ranks.
#pragma once

#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd::cluster {

/// The time of this machine; what it counts from differs between machines.
Nanoseconds machine_time();

/// Nanoseconds since a start that is the same for all ranks, as far as messages can show.
class CommonClock {
 public:
  /// Collective.
  explicit CommonClock(mpi::Communicator& ranks);

  Nanoseconds now() const { return machine_time() - zero_; }

  /// Collective: compares again, and says how far times of two ranks may be wrong against each
  /// other.
  RankClocks review(mpi::Communicator& ranks) const;

 private:
  std::vector<mpi::ClockOffset> offsets_;
  Nanoseconds zero_ = 0;  // of this rank's machine time
};

}  // namespace dasgd::cluster
