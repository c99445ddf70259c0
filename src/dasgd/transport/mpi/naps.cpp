#include "dasgd/transport/mpi/naps.hpp"

#include <algorithm>

namespace dasgd::mpi {

using std::chrono::microseconds;

void Naps::moved(Time now) {
  moved_at_ = now;
  nap_ = microseconds(0);
}

bool Naps::pays(Time now) const {
  return quiet(now) >= (eager_ ? microseconds(2000) : microseconds(20));
}

microseconds Naps::next(Time now, UnderWay what) {
  nap_ = std::clamp(2 * nap_, microseconds(10), longest(now, what));
  return nap_;
}

microseconds Naps::quiet(Time now) const {
  return std::chrono::duration_cast<microseconds>(now - moved_at_);
}

microseconds Naps::longest(Time now, UnderWay what) const {
  if (eager_ || what == UnderWay::large) return microseconds(50);
  return what == UnderWay::small
             ? std::clamp(quiet(now) / 4, microseconds(50), microseconds(500))
             : std::clamp(quiet(now) / 4, microseconds(500), microseconds(2000));
}

}  // namespace dasgd::mpi
