// Who comes and goes in a simulated run, and when.
#pragma once

#include <cstddef>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd::elastic {

struct MembershipPlan {
  struct Departure {
    WorkerId worker{};
    Nanoseconds at = 0;
  };
  std::vector<Departure> crashes;  ///< kill -9
  std::vector<Departure> leaves;
  /// Of further workers, whose numbers follow those of the run, in the order of their times.
  std::vector<Nanoseconds> joins;

  bool any() const { return !crashes.empty() || !leaves.empty() || !joins.empty(); }
};

/// When every worker comes: those of the run at `start` (empty: at 0), then those who join.
std::vector<Nanoseconds> join_times(const MembershipPlan& membership_plan, std::size_t workers,
                                    const std::vector<Nanoseconds>& start);

/// The largest number of workers that are there at one time.
std::size_t most_at_once(const MembershipPlan& membership_plan, std::size_t workers,
                         const std::vector<Nanoseconds>& start);

/// Throws InputError for a worker that there is not, one that goes before it has come or goes
/// twice, and where nobody is left.
void validate(const MembershipPlan& membership_plan, std::size_t workers,
              const std::vector<Nanoseconds>& start);

}  // namespace dasgd::elastic
