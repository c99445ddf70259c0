// Threads or MPI ranks, and how a run on ranks is set up.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace dasgd::app {

enum class EngineKind { automatic, threads, mpi };

struct RankSettings {
  EngineKind engine = EngineKind::automatic;  ///< MPI under mpirun or srun, else threads
  std::optional<std::size_t> workers_per_rank;
  std::string polling = "auto";
  std::chrono::nanoseconds timeout{std::chrono::seconds(8)};
  bool log = false;

  bool workers_give_way = false;  ///< to the ranks: their number is that of the run to be resumed
  std::size_t expected = 0;       ///< ranks, once resolved; 0 on threads
};

/// "threads" or "mpi". Throws InputError.
EngineKind parse_engine(const std::string& text);

/// Chooses the engine and fills in how many workers the ranks have. Throws InputError where workers
/// and ranks do not fit together, unless the workers give way: then every rank has as many as it
/// would have without a given number.
void resolve_engine(RankSettings& settings, std::optional<std::size_t>& workers);

}  // namespace dasgd::app
