#include "dasgd/cluster/clocks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

namespace dasgd::cluster {

Nanoseconds machine_time() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CommonClock::CommonClock(mpi::Communicator& ranks) : offsets_(ranks.compare_clocks(machine_time)) {
  const Nanoseconds start = std::stoll(ranks.gather(std::to_string(machine_time())).front());
  zero_ = start + offsets_[static_cast<std::size_t>(ranks.rank())].offset;
}

// While a clock runs evenly, its offset lies between the two that were measured, each known to
// within its error.
RankClocks CommonClock::review(mpi::Communicator& ranks) const {
  const auto after = ranks.compare_clocks(machine_time);
  RankClocks clocks;
  std::vector<Nanoseconds> wrong;
  for (std::size_t r = 0; r < offsets_.size(); ++r) {
    clocks.offsets.push_back(offsets_[r].offset);
    clocks.drift.push_back(after[r].offset - offsets_[r].offset);
    wrong.push_back(std::max(offsets_[r].error, std::abs(clocks.drift.back()) + after[r].error));
  }
  std::sort(wrong.begin(), wrong.end(), std::greater<>());
  clocks.tolerance = wrong[0] + (wrong.size() > 1 ? wrong[1] : 0);
  return clocks;
}

}  // namespace dasgd::cluster
