#include "dasgd/base/checked_time.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "dasgd/base/input_error.hpp"

namespace dasgd {
namespace {

constexpr Nanoseconds end_of_time = std::numeric_limits<Nanoseconds>::max();

[[noreturn]] void run_out(const char* what) {
  throw InputError(std::string(what) +
                   ": takes the run beyond 292 years, more than its clock counts");
}

}  // namespace

Nanoseconds later(Nanoseconds time, Nanoseconds by, const char* what) {
  if (by > end_of_time - time) run_out(what);
  return time + by;
}

Nanoseconds duration(double nanoseconds, const char* what) {
  if (!(nanoseconds < static_cast<double>(end_of_time))) run_out(what);
  return std::llround(nanoseconds);
}

}  // namespace dasgd
