#include "launcher.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace dasgd::app {
namespace {

std::optional<std::size_t> number(const char* variable) {
  const char* const text = std::getenv(variable);
  if (!text) return std::nullopt;
  const std::string_view view(text);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size()) return std::nullopt;
  return value;
}

struct Known {
  const char *launcher, *rank, *size;
  bool serves_mpi;
};
// The first that has both is believed. srun sets the last two for every program, but not for a
// batch script; one task alone is no job of MPI.
constexpr std::array<Known, 5> known_launchers{
    {{"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true},
     {"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE", true},
     {"srun (PMIx)", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", true},
     {"srun (PMI)", "PMI_RANK", "SLURM_STEP_NUM_TASKS", true},
     {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false}}};

}  // namespace

std::optional<Launch> find_launch() {
  for (const Known& k : known_launchers) {
    const auto rank = number(k.rank), size = number(k.size);
    if (rank && size && *rank < *size && (k.serves_mpi || *size > 1))
      return Launch{k.launcher, *rank, *size, k.serves_mpi};
  }
  return std::nullopt;
}

}  // namespace dasgd::app
