// How long things took in a run that was recorded, read off its trace.
#pragma once

#include <functional>
#include <vector>

#include "dasgd/staleness/trace_check.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// What a trace says of its world. Own gradients carry start and end, foreign ones the end of their
/// application only; so:
/// - a *cycle* lasts from one own application of a worker to the next. What remains of it after its
///   applications is compute time: whatever else the worker did is in there as well;
/// - an application lasts as long as half of the foreign ones that followed another application
///   without a break;
/// - a frame was still on its way at every look that missed it, and had arrived at the look that
///   took it. The latency is what agrees with most of these intervals.
struct MeasuredTimes {
  std::vector<std::vector<Nanoseconds>> compute;  ///< per worker, gradient after gradient
  Nanoseconds apply = 0;
  Nanoseconds latency = 0;
  std::vector<Nanoseconds> start;  ///< per worker, when it began its first gradient
  Nanoseconds end = 0;             ///< when the last application was complete
};

/// `direct(a, b)`: whether worker a sends to b without anybody in between. The trace must have its
/// times; throws InputError otherwise.
MeasuredTimes measure(const std::vector<TraceLine>& trace,
                      const std::function<bool(WorkerId, WorkerId)>& direct);

}  // namespace dasgd
