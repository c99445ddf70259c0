#include "rank_settings.hpp"

#include <fmt/format.h>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/core/nearest_word.hpp"
#include "launcher.hpp"

namespace dasgd::app {

EngineKind parse_engine(const std::string& text) {
  const std::vector<std::string> names{"auto", "threads", "mpi"};
  if (text == "auto") return EngineKind::automatic;
  if (text == "threads") return EngineKind::threads;
  if (text == "mpi") return EngineKind::mpi;
  throw InputError("unknown engine \"" + text + "\"" + suggestion(text, names));
}

void resolve_engine(RankSettings& settings, std::optional<std::size_t>& workers) {
  const auto launch = find_launch();
  const bool mpi = settings.engine == EngineKind::mpi ||
                   (settings.engine == EngineKind::automatic && launch.has_value());
  settings.expected = !mpi ? 0 : launch ? launch->size : 1;
  if (!mpi) {
    if (settings.workers_per_rank)
      throw InputError("--workers-per-rank needs ranks; start dasgd with mpirun or srun");
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
        "{} workers do not fit on {} ranks{}; leave --workers out, or use a multiple of the ranks",
        *workers, ranks,
        settings.workers_per_rank ? fmt::format(" with {} each", *settings.workers_per_rank) : ""));
}

}  // namespace dasgd::app
