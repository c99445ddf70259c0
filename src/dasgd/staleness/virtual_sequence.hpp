// All gradients of a run in the order in which their computation began: the sequence in which
// "independent of the slowest worker" is true (docs/theory.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/staleness/trace_check.hpp"

namespace dasgd {

/// |R_m| = m - s_m over the gradients m = 0 .. N-1 of a run.
struct VirtualSequence {
  double mean = 0, mean_square = 0;
  std::uint64_t max = 0;
};

/// Nothing if the trace does not say when its gradients were begun, or contradicts itself.
std::optional<VirtualSequence> virtual_sequence(const std::vector<TraceLine>& trace);

}  // namespace dasgd
