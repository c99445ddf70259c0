#include "ranks/rank_launch.hpp"

#include <fmt/format.h>

#include "dasgd/config/engine.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::app {

bool is_first_process() {
  const auto launch = config::find_launch();
  return !launch || launch->rank == 0;
}

bool would_be_ranks() {
  const auto launch = config::find_launch();
  return Ranks::are_built_in() && launch && launch->serves_mpi && launch->size > 1;
}

bool may_become_ranks() {
  const bool quiet = !is_first_process();
  if (quiet && !Ranks::are_built_in()) return false;
  const auto launch = config::find_launch();
  if (!launch || launch->serves_mpi) return true;
  if (quiet) return false;
  throw InputError(fmt::format(
      "{} started {} processes that MPI cannot connect; use srun --mpi=pmix (Open MPI) or "
      "--mpi=pmi2 (MPICH), or `engine` threads",
      launch->launcher, launch->size));
}

bool is_known_to_mpi(const Ranks& ranks) { return is_first_process() || ranks.size() > 1; }

void require_all_processes(const Ranks& ranks) {
  const auto launch = config::find_launch();
  const std::size_t expected = launch ? launch->size : 1;
  if (ranks.size() == expected) return;
  throw InputError(fmt::format(
      "{} started {} processes, but MPI sees {}: use the launcher of the MPI that dasgd was built "
      "with (with Slurm: srun --mpi=pmix or --mpi=pmi2)",
      launch ? launch->launcher : "nobody", expected, ranks.size()));
}

}  // namespace dasgd::app
