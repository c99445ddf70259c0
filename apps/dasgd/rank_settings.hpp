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

  std::size_t expected = 0;  ///< ranks, once resolved; 0 on threads
};

/// "threads" or "mpi". Throws InputError.
EngineKind parse_engine(const std::string& text);

/// Chooses the engine and fills in how many workers the ranks have. Throws InputError where workers
/// and ranks do not fit together.
void resolve_engine(RankSettings& settings, std::optional<std::size_t>& workers);

}  // namespace dasgd::app
