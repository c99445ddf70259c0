#include <chrono>

#include "dasgd/core/error.hpp"
#include "ranks.hpp"
#include "setting_groups.hpp"
#include "setting_kinds.hpp"
#include "units.hpp"

namespace dasgd::app {
using Kind = Setting::Kind;

std::vector<Setting> engine_settings() {
  return {
      {"engine", "--engine", Kind::value, "NAME",
       "threads, or mpi: one or several workers on every rank (default: mpi under mpirun and srun, "
       "else threads)",
       [](Config& c, const std::string& v) { c.ranks.engine = parse_engine(v); },
       [](const Config& c) -> std::optional<std::string> {
         if (c.ranks.engine == EngineKind::automatic) return std::nullopt;
         return quoted(c.ranks.engine == EngineKind::mpi ? "mpi" : "threads");
       }},
  };
}

std::vector<Setting> rank_settings() {
  return {
      {"ranks.workers_per_rank", "--workers-per-rank", Kind::value, "N",
       "worker threads on every MPI rank; they share gradients in memory (default: 1)",
       [](Config& c, const std::string& v) {
         c.ranks.workers_per_rank = parse_whole(v, most32);
         if (*c.ranks.workers_per_rank < 1) throw InputError("must be at least 1");
       },
       // Not written: with the number of workers the run repeats on any number of ranks that fits.
       [](const Config&) { return std::optional<std::string>(); }},
      {"ranks.polling", "--polling", Kind::value, "HOW",
       "how a rank waits for messages: eager (takes a core), patient (sleeps), or auto: eager "
       "where a core is to spare",
       [](Config& c, const std::string& v) {
         require_polling(v);
         c.ranks.polling = v;
       },
       [](const Config& c) -> std::optional<std::string> {
         if (c.ranks.polling == "auto") return std::nullopt;
         return quoted(c.ranks.polling);
       }},
      {"ranks.timeout", "--rank-timeout", Kind::value, "T",
       "a rank that is silent for so long is taken for dead and ends the job (default: 8s)",
       [](Config& c, const std::string& v) {
         c.ranks.timeout = parse_duration(v);
         if (c.ranks.timeout < std::chrono::seconds(2)) throw InputError("must be at least 2s");
       },
       [](const Config& c) -> std::optional<std::string> {
         if (c.ranks.timeout == RankSettings().timeout) return std::nullopt;
         return quoted(show_duration(c.ranks.timeout));
       }},
      {"ranks.log", "--log-ranks", Kind::flag, "", "every rank says on standard error what it does",
       [](Config& c, const std::string& v) { c.ranks.log = parse_flag(v); },
       [](const Config& c) -> std::optional<std::string> {
         return c.ranks.log ? std::optional<std::string>("true") : std::nullopt;
       }},
  };
}

}  // namespace dasgd::app
