// Threads or MPI ranks: what was asked for, and what started this process.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "dasgd/transport/mpi/polling.hpp"

namespace dasgd::config {

/// What an MPI launcher says in the environment, before MPI is asked.
struct Launch {
  std::string launcher;  ///< "mpirun (Open MPI)", ...
  std::size_t rank = 0, size = 1;
  bool serves_mpi = true;  ///< false: it started several programs that MPI cannot bring together
};

/// Nothing when no launcher was at work. Open MPI's mpirun, the Hydra of MPICH and its relatives,
/// and Slurm's srun with PMI or PMIx are known.
std::optional<Launch> find_launch();

enum class EngineKind { automatic, threads, mpi };

struct RankSettings {
  EngineKind engine = EngineKind::automatic;  ///< MPI under mpirun or srun, else threads
  std::optional<std::size_t> workers_per_rank;
  mpi::Polling polling = mpi::Polling::automatic;
  std::chrono::nanoseconds timeout{std::chrono::seconds(8)};
  bool log = false;
  bool no_shared_memory = false;  ///< ranks of one machine send each other messages as well

  bool workers_give_way = false;  ///< to the ranks: their number is that of the run to be resumed
  std::size_t expected = 0;       ///< ranks, once resolved; 0 on threads
};

/// "auto", "threads" or "mpi". Throws InputError.
EngineKind parse_engine(const std::string& text);
std::string to_string(EngineKind engine);

/// Chooses the engine and fills in how many workers the ranks have. Throws InputError where workers
/// and ranks do not fit together, unless the workers give way: then every rank has as many as it
/// would have without a given number.
void resolve_engine(RankSettings& settings, std::optional<std::size_t>& workers);

}  // namespace dasgd::config
