#include "dasgd/config/engine.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::config {
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
// batch script; one task alone is not an MPI job.
constexpr std::array<Known, 5> known_launchers{
    {{"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true},
     {"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE", true},
     {"srun (PMIx)", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", true},
     {"srun (PMI)", "PMI_RANK", "SLURM_STEP_NUM_TASKS", true},
     {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false}}};

const std::vector<std::string> engine_names{"auto", "threads", "mpi"};

}  // namespace

std::optional<Launch> find_launch() {
  for (const Known& k : known_launchers) {
    const auto rank = number(k.rank), size = number(k.size);
    if (rank && size && *rank < *size && (k.serves_mpi || *size > 1))
      return Launch{k.launcher, *rank, *size, k.serves_mpi};
  }
  return std::nullopt;
}

EngineKind parse_engine(const std::string& text) {
  const auto at = std::find(engine_names.begin(), engine_names.end(), text);
  if (at == engine_names.end())
    throw InputError("unknown engine \"" + text + "\"" + suggestion(text, engine_names));
  return static_cast<EngineKind>(at - engine_names.begin());
}
std::string to_string(EngineKind engine) { return engine_names[static_cast<std::size_t>(engine)]; }

void resolve_engine(RankSettings& settings, std::optional<std::size_t>& workers) {
  const auto launch = find_launch();
  const bool mpi = settings.engine == EngineKind::mpi ||
                   (settings.engine == EngineKind::automatic && launch.has_value());
  settings.expected = !mpi ? 0 : launch ? launch->size : 1;
  if (!mpi) {
    if (settings.workers_per_rank)
      throw InputError("`ranks.workers_per_rank` needs ranks; start dasgd with mpirun or srun");
    return;
  }
  const std::size_t ranks = settings.expected;
  const auto fit = [&] {
    return *workers % ranks == 0 &&
           *workers / ranks == settings.workers_per_rank.value_or(*workers / ranks);
  };
  if (!workers || (settings.workers_give_way && !fit()))
    workers = ranks * settings.workers_per_rank.value_or(1);
  if (!fit())
    throw InputError(fmt::format(
        "{} workers do not fit on {} ranks{}; leave `workers` out, or use a multiple of the ranks",
        *workers, ranks,
        settings.workers_per_rank ? fmt::format(" with {} each", *settings.workers_per_rank) : ""));
}

}  // namespace dasgd::config
