// How long the progress thread may look away.
#pragma once

#include <chrono>
#include <optional>

namespace dasgd::mpi {

/// What MPI has been given and has not finished. It moves the pieces of a large message only while
/// it is called; what is small is through at once, and then waits for the other rank to wake up.
enum class UnderWay { nothing, small, large };

/// Messages that arrive cannot end a sleep, so sleeps begin short and grow while nothing moves.
/// They begin at a hundredth of the time that a gradient takes here: what waits for less than that
/// makes no gradient staler, and looking more often takes the core from the worker. Times are
/// parameters.
class PollingPauses {
 public:
  using Time = std::chrono::steady_clock::time_point;

  PollingPauses(bool eager, Time now) : eager_(eager), moved_at_(now) {}

  /// A gradient of a worker here leaves.
  void sent(Time now);
  /// Something has moved: the next look is at once.
  void moved(Time now);
  /// Whether nothing has moved for so long that a sleep pays.
  bool pays(Time now) const;
  /// How long.
  std::chrono::microseconds next(Time now, UnderWay what);

 private:
  std::chrono::microseconds quiet(Time now) const;
  std::chrono::microseconds shortest() const;
  std::chrono::microseconds longest(Time now, UnderWay what) const;

  const bool eager_;
  Time moved_at_;
  std::chrono::microseconds nap_{0};
  std::optional<Time> sent_at_;
  std::chrono::microseconds between_gradients_{0};  // on the average of the last few
};

}  // namespace dasgd::mpi
