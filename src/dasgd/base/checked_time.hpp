// Arithmetic of times that may be too long: the nanoseconds of a run count 292 years.
#pragma once

#include "dasgd/base/time.hpp"

namespace dasgd {

/// time + by, neither negative. Throws InputError, which says `what` takes so long, where that is
/// beyond all time.
Nanoseconds later(Nanoseconds time, Nanoseconds by, const char* what);
/// So many nanoseconds, rounded, not negative. Throws the same.
Nanoseconds duration(double nanoseconds, const char* what);

}  // namespace dasgd
