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
};
// The first that has both is believed. A Slurm batch script has no PMI rank: it is not started by
// srun.
constexpr std::array<Known, 4> known{
    {{"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
     {"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE"},
     {"srun (PMIx)", "PMIX_RANK", "SLURM_NTASKS"},
     {"srun (PMI)", "PMI_RANK", "SLURM_NTASKS"}}};

}  // namespace

std::optional<Launch> find_launch() {
  for (const Known& k : known) {
    const auto rank = number(k.rank), size = number(k.size);
    if (rank && size && *size > 0 && *rank < *size) return Launch{k.launcher, *rank, *size};
  }
  return std::nullopt;
}

}  // namespace dasgd::app
