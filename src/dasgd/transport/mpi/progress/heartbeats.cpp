#include "dasgd/transport/mpi/progress/heartbeats.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd::mpi {

bool Heartbeats::is_time(Time now) {
  const auto since_last = now - std::exchange(last_look_, now);
  if (since_last > beat_every) std::fill(heard_.begin(), heard_.end(), now);
  if (now < next_beat_) return false;
  next_beat_ = now + beat_every;
  return true;
}

void Heartbeats::require(int rank, Time now) const {
  const auto quiet = now - heard_[static_cast<std::size_t>(rank)];
  if (quiet > silence_)
    throw MpiError("rank " + std::to_string(rank) + " has been silent for " +
                   std::to_string(quiet / std::chrono::seconds(1)) +
                   " s: it died or its machine is unreachable");
}

}  // namespace dasgd::mpi
