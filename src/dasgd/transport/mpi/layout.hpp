// Which worker runs on which rank.
#pragma once

#include <cstddef>

#include "dasgd/core/names.hpp"

namespace dasgd::mpi {

/// Workers in order, the same number on every rank.
struct RankLayout {
  int ranks = 1;
  std::size_t per_rank = 1;

  std::size_t workers() const { return static_cast<std::size_t>(ranks) * per_rank; }
  int rank_of(WorkerId worker) const { return static_cast<int>(index(worker) / per_rank); }
  WorkerId worker(int rank, std::size_t local) const {
    return worker_id(static_cast<std::size_t>(rank) * per_rank + local);
  }
  /// The place of a worker among those of its rank.
  std::size_t local(WorkerId worker) const { return index(worker) % per_rank; }
};

}  // namespace dasgd::mpi
