// Who started this process: a person, mpirun or srun.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace dasgd::app {

/// What an MPI launcher says in the environment, before MPI is asked.
struct Launch {
  std::string launcher;  ///< "mpirun (Open MPI)", ...
  std::size_t rank = 0, size = 1;
  bool serves_mpi = true;  ///< false: it started several programs that MPI cannot bring together
};

/// Nothing when no launcher was at work. Open MPI's mpirun, the Hydra of MPICH and its relatives,
/// and Slurm's srun with PMI or PMIx are known.
std::optional<Launch> find_launch();

}  // namespace dasgd::app
