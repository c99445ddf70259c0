#include "commands/summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <vector>

#include "dasgd/base/units.hpp"
#include "dasgd/record/stop_words.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

// Where targets are numbers: in the units of the data.
std::string describe_squares(const PartFigures& part) {
  if (!part.mse) return "";
  return fmt::format("mse {:.6g}{}", *part.mse,
                     part.r2 ? fmt::format(", R2 {:.4f}", *part.r2) : "");
}

// Of the part that was evaluated during the run.
std::string describe_errors(const RunSummary& s) {
  for (const PartFigures& part : s.parts)
    if (part.part == s.evaluated_part && part.mse)
      return fmt::format(", {} {}", part.part, describe_squares(part));
  return "";
}

// Of what was kept for the end; empty where there is none.
std::string describe_test(const RunSummary& s) {
  for (const PartFigures& part : s.parts) {
    if (part.part != "test" || part.part == s.evaluated_part) continue;
    const auto accuracy = part.counts.accuracy();
    return fmt::format("loss {:.6g}{}{}", part.loss,
                       accuracy ? fmt::format(", accuracy {:.4f}", *accuracy) : "",
                       part.mse ? ", " + describe_squares(part) : "");
  }
  return "";
}

// What a run over shards minimises.
std::string describe_shards(const RunSummary& s, bool full_batch) {
  if (full_batch) return s.sampling + ": without effect, each gradient used all samples";
  std::vector<std::string> weights;
  constexpr std::size_t shown = 8;
  const auto all = static_cast<double>(
      std::max<std::uint64_t>(1, std::accumulate(s.gradients_by_worker.begin(),
                                                 s.gradients_by_worker.end(), std::uint64_t{0})));
  for (std::size_t i = 0; i < std::min(shown, s.gradients_by_worker.size()); ++i)
    weights.push_back(
        fmt::format("{:.1f} %", 100 * static_cast<double>(s.gradients_by_worker[i]) / all));
  return fmt::format(
      "{}: minimises the mean over the workers' shards, weighted by their gradients: {}{}",
      s.sampling, fmt::join(weights, ", "), s.gradients_by_worker.size() > shown ? ", ..." : "");
}

// "all 6 held", "W 31 is above 24; 5 of 6 held".
std::string describe_assumptions(const std::vector<CheckedAssumption>& assumptions) {
  std::string broken, unknown;
  std::size_t held = 0;
  bool variance = false;
  for (const CheckedAssumption& a : assumptions) {
    held += a.held.value_or(false) ? 1 : 0;
    variance = variance || a.name == "sigma2";
    if (!a.held) unknown += fmt::format("; {} cannot be checked", a.name);
    if (a.held.value_or(true)) continue;
    broken += a.at_most ? fmt::format("{} was {:.4g}, not at most {:.4g}; ", a.name,
                                      a.found.value_or(0), *a.at_most)
                        : fmt::format("{}: {}; ", a.name, a.how);
  }
  return fmt::format("{}{} of {} held{}{}{}", broken, held, assumptions.size(),
                     variance ? " (sigma^2 was checked at the final model only)" : "", unknown,
                     held < assumptions.size() ? "; see summary.json" : "");
}

const char* describe_replicas(const RunSummary& s) {
  if (!s.replicas_compared) return "not compared";
  if (s.replicas_identical) return "identical";
  return difference(s.digest_of_all).empty() ? "NOT known to be identical" : "DIFFER";
}

}  // namespace

std::string describe_S_hat(const StalenessSummary& s) {
  return s.S_hat_known ? fmt::format("S_hat_avg {:.3f}, S_hat_max {}", s.S_hat_avg, s.S_hat_max)
                       : fmt::format("S_hat unknown for {} applications", s.S_hat_untold);
}

void print_summary(const std::string& verb, const Config& config, const RunSummary& s,
                   const std::string& directory) {
  const double seconds = std::max(1e-9, s.virtual_seconds.value_or(s.wall_seconds));
  std::string all;
  const auto row = [&](const char* name, const std::string& text) {
    all += fmt::format("  {:<11}{}\n", name, text);
  };
  const bool member = s.elastic && !s.virtual_seconds;
  const std::string graph =
      member ? counted(s.elastic->members, "member")
             : (s.relay.starts_with("tree") ? s.relay : config.run.topology) + " graph";
  all += fmt::format("{} {}{} on {}, {}, lr {:.6g}\n", verb, config.problem.model,
                     config.problem.data.empty() ? "" : " on " + data_in_words(config.problem.data),
                     counted(s.workers, "worker"), graph, config.run.eta);
  row("stopped",
      fmt::format(
          "after {:.2f} s{}: {}", seconds,
          s.virtual_seconds ? fmt::format(" of virtual time ({:.2f} s real)", s.wall_seconds) : "",
          stop_in_words(to_string(s.stop_reason))));
  if (s.resumed)
    row("resumed", fmt::format("leg {}, from {} gradients after {:.2f} s", s.resumed->leg,
                               show_count(s.resumed->gradients), s.resumed->seconds));
  const std::uint64_t before = s.elastic ? s.elastic->joined_at_step : 0;
  const std::uint64_t since = s.gradients - before;
  const auto show_rate = [](double per_second) {
    return show_count(static_cast<std::uint64_t>(std::round(per_second)));
  };
  row("gradients", fmt::format("{} ({}{}/s), {} ({}/s)", show_count(s.gradients),
                               before > 0 ? show_count(since) + " since this member joined, " : "",
                               show_rate(static_cast<double>(since) / seconds),
                               counted(s.samples, "sample"), show_rate(s.samples_per_second)));
  if (s.arrivals)
    row("arrived",
        fmt::format("{} ({}/s){}", counted(s.arrivals->arrived, "sample"),
                    show_rate(static_cast<double>(s.arrivals->arrived) / seconds),
                    s.arrivals->prequential
                        ? fmt::format("; accuracy before learning {:.4f} (last 1,000 or fewer)",
                                      *s.arrivals->prequential)
                        : ""));
  if (s.halvings > 0)
    row("step size", fmt::format("halved {}, as losses ran away", counted(s.halvings, "time")));
  const bool held_out = s.evaluated_part != "train";
  row("loss", fmt::format("{:.6g}{}", s.loss, held_out ? " (training)" : "") +
                  (s.accuracy ? fmt::format(", accuracy {:.4f}{}", *s.accuracy,
                                            held_out ? " (" + s.evaluated_part + ")" : "")
                              : "") +
                  describe_errors(s));
  if (const std::string test = describe_test(s); !test.empty()) row("test", test);
  if (s.best)
    row("best", fmt::format("{}{:.6g} at {:.2f} s", s.best->accuracy ? "accuracy " : "loss ",
                            s.best->accuracy.value_or(s.best->loss.value_or(0)), s.best->seconds));
  const StalenessSummary& st = s.staleness;
  row("staleness",
      fmt::format("S_avg {:.3f}, S_max {}, {}, mean square {:.2f}, W {}", st.S_avg, st.S_max,
                  describe_S_hat(st), st.S_mean_square, st.W ? std::to_string(*st.W) : "not kept"));
  if (s.look_ahead)
    row("look-ahead",
        fmt::format("lambda {:.2f}, {:.1f} gradients missing on average (estimated {:.1f})",
                    s.look_ahead->lambda, s.look_ahead->missing_true,
                    s.look_ahead->missing_estimated));
  if (!s.assumptions.empty()) row("assumed", describe_assumptions(s.assumptions));
  if (s.folded > 0)
    row("folded",
        fmt::format("{} applications of gradients that arrived already summed, because a worker "
                    "was behind",
                    show_count(s.folded)));
  if (s.sampling == "shards" || s.sampling.starts_with("dirichlet"))
    row("sampling", describe_shards(s, config.run.batch == 0u));
  row("audit", fmt::format("lost {}, duplicated {}, replicas {}", s.lost, s.duplicated,
                           describe_replicas(s)));
  row("digest", s.replica_digest);
  row("written to", directory);
  offer_text(all);
}

void print_members(const RunSummary& s) {
  if (!s.elastic) return;
  const MemberFigures& m = *s.elastic;
  std::uint64_t lost = 0;
  std::string by;
  for (const auto& [who, count] : m.lost_gradients) {
    lost += count;
    by += fmt::format("{}{}: {}", by.empty() ? " (" : ", ", who, count);
  }
  if (!by.empty()) by += ")";
  const auto compared = std::max<std::uint64_t>(1, s.digest_of_all.size());
  offer_text(fmt::format(
      "members {}, here at the end {}, left {}, lost {}; in the model {}; lost {} known{}; "
      "duplicated {}; abandoned {}; replicas {} ({} of {})\n",
      m.members, m.at_end, m.left, m.lost, show_count(s.gradients), lost, by, s.duplicated,
      m.abandoned, describe_replicas(s), compared, std::max<std::uint64_t>(compared, m.at_end)));
}

}  // namespace dasgd::app
