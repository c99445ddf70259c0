// A run in one file: what is needed to go on after the process has gone (docs/checkpoints.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/data/draws/position.hpp"

namespace dasgd {

/// The state of a worker, as it reports it between two of its steps; empty where it did not.
struct CarryOver {
  Bytes rule;       ///< UpdateRule::state()
  Bytes objective;  ///< Oracle::state()
  Bytes residual;   ///< what rounding to few bits has left to be sent; empty: messages were full

  bool empty() const { return rule.empty() && objective.empty() && residual.empty(); }

  friend bool operator==(const CarryOver&, const CarryOver&) = default;
};

/// Where one worker stands beyond its replica.
struct WorkerState {
  DataPosition data;
  std::uint64_t computed = 0;  ///< gradients that count for its budget
  CarryOver carry_over;
};

/// A moment of a run. It is consistent by itself: the replica is a function of the gradient set,
/// and the positions in the data follow from the set. What was computed but is not in the set is
/// lost with the process, and its samples are drawn again.
///
/// A run that was resumed consists of legs. Names count from 0 in each leg, and the replica of the
/// checkpoint is the x^0 of the next, so a leg looks like a run of its own.
struct Checkpoint {
  std::map<std::string, std::string> facts;  ///< what the run is about, to be compared on resume
  std::size_t dimension = 0;
  Bytes sums;                     ///< of the replica, exactly
  std::vector<GradientSet> legs;  ///< the gradients in the replica, leg by leg
  Sampling sampling = Sampling::own;
  std::vector<WorkerState> workers;
  /// Where workers stand that an earlier leg had and the last one had not, from the number
  /// `workers.size()` on; so that none of their draws is ever repeated.
  std::vector<DataPosition> absent;
  double seconds = 0;              ///< that the run had taken
  std::uint64_t gradients = 0;     ///< in all legs
  std::uint64_t applications = 0;  ///< of those gradients, at all workers
  std::uint64_t samples = 0;       ///< in those gradients
  std::uint32_t evaluations_since_best = 0;

  std::size_t positions() const { return workers.size() + absent.size(); }
  /// Where worker i stands in its sequence of batches, if it has ever been there.
  DataPosition position_of(std::size_t i) const {
    if (i < workers.size()) return workers[i].data;
    return i < positions() ? absent[i - workers.size()] : DataPosition{};
  }
};

/// Bytes that are not a checkpoint, or no longer the one that was written. The message says what is
/// wrong, without the name of a file.
class CorruptCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A header with sizes and an XXH3-128 of everything, then the state, packed by zstd.
std::string encode(const Checkpoint& checkpoint);
/// Throws CorruptCheckpoint.
Checkpoint decode(std::span<const std::byte> file);

}  // namespace dasgd
