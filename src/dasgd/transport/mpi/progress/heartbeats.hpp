// Which ranks are alive.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace dasgd::mpi {

/// Knows when every rank was last heard of, and when it is time to be heard. Times are parameters.
class Heartbeats {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds beat_every{1};

  /// A rank that says nothing for `silence` is taken for dead.
  Heartbeats(int ranks, std::chrono::milliseconds silence, Time now)
      : silence_(silence),
        heard_(static_cast<std::size_t>(ranks), now),
        last_look_(now),
        next_beat_(now) {}

  void hear(int rank, Time now) { heard_[static_cast<std::size_t>(rank)] = now; }

  /// Whether it is time to beat and to look after the others; true once each time. To be asked all
  /// the time: if this process was itself asleep (stopped, swapped out), silence means nothing.
  bool is_time(Time now);
  /// Throws MpiError if the rank has been silent for too long.
  void require(int rank, Time now) const;

 private:
  const std::chrono::milliseconds silence_;
  std::vector<Time> heard_;
  Time last_look_, next_beat_;
};

}  // namespace dasgd::mpi
