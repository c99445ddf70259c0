#include "dasgd/transport/mpi/progress/polling_pauses.hpp"

#include <algorithm>
#include <utility>

namespace dasgd::mpi {

using std::chrono::microseconds;

void PollingPauses::sent(Time now) {
  const auto last = std::exchange(sent_at_, now);
  if (!last) return;
  const auto passed = std::chrono::duration_cast<microseconds>(now - *last);
  between_gradients_ += (passed - between_gradients_) / 8;
}

void PollingPauses::moved(Time now) {
  moved_at_ = now;
  nap_ = microseconds(0);
}

bool PollingPauses::pays(Time now) const {
  if (eager_) return quiet(now) >= microseconds(2000);
  return quiet(now) >= microseconds(20) || shortest() > microseconds(20);
}

microseconds PollingPauses::next(Time now, UnderWay what) {
  const microseconds most = longest(now, what);
  nap_ = std::clamp(2 * nap_, std::min(shortest(), most), most);
  return nap_;
}

microseconds PollingPauses::shortest() const {
  if (eager_) return microseconds(10);
  return std::clamp(between_gradients_ / 100, microseconds(10), microseconds(200));
}

microseconds PollingPauses::quiet(Time now) const {
  return std::chrono::duration_cast<microseconds>(now - moved_at_);
}

microseconds PollingPauses::longest(Time now, UnderWay what) const {
  if (eager_ || what == UnderWay::large) return microseconds(50);
  const bool small = what == UnderWay::small;
  const microseconds least = small ? std::max(microseconds(50), shortest()) : microseconds(500);
  return std::clamp(quiet(now) / 4, least, small ? microseconds(500) : microseconds(2000));
}

}  // namespace dasgd::mpi
