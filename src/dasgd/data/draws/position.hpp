// Where workers stand in their sequences of batches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/core/gradient_set.hpp"
#include "dasgd/data/draws/batches.hpp"

namespace dasgd {

/// The batches of its own sequence that a worker has done: all before `next`, and those of `ahead`.
/// There are some ahead only where a set of gradients has a gap.
struct DataPosition {
  std::uint64_t next = 0;
  std::vector<std::uint64_t> ahead;  ///< ascending, all greater than `next`

  std::uint64_t done() const { return next + ahead.size(); }
  /// The place of a worker that went on from here and made the gradients that `applied` has of it.
  DataPosition after(const GradientSet& applied, WorkerId worker) const;

  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

/// Where workers with these shards stand after `samples` samples in all, each at the same part of
/// its own pass. The samples themselves are dealt again, so in that pass some are seen twice and
/// some not.
std::vector<DataPosition> redistribute(std::uint64_t samples, std::span<const BatchShape> shapes);

}  // namespace dasgd
