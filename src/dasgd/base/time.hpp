// The time of a run.
#pragma once

#include <cstdint>

namespace dasgd {

/// Nanoseconds since the start of the run, real or virtual.
using Nanoseconds = std::int64_t;

}  // namespace dasgd
