#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/members/check_members.hpp"
#include "dasgd/record/sweep.hpp"
#include "dasgd/record/trace/checked_run.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

std::string limit_in_words(double eta) {
  return std::isfinite(eta) ? fmt::format("{:.6g}", eta) : std::isinf(eta) ? "none" : "unknown";
}

void print_text(const CheckedRun& run, const CheckOptions& options) {
  const TraceCheck& check = run.check;
  const StalenessSummary& s = check.staleness;
  print_result("{}: {}, {}, {}\n", run.trace, counted(check.workers, "worker"),
               counted(check.gradients, "gradient"), counted(check.events.size(), "application"));
  print_result("  delivery   {}\n", check.causal()
                                        ? "causal"
                                        : fmt::format("not causal at {} applications",
                                                      show_count(check.noncausal_applications)));
  print_result("  staleness  S_avg {:.4f}, S_max {}, mean square {:.4f}\n", s.S_avg, s.S_max,
               s.S_mean_square);
  print_result("  S_hat      S_hat_avg {:.4f}, S_hat_max {}: the looser staleness of the paper\n",
               s.S_hat_avg, s.S_hat_max);
  if (const auto& sequence = run.sequence)
    print_result(
        "  R          R_avg {:.4f}, R_max {}, mean square {:.4f}: of the virtual sequence\n",
        sequence->mean, sequence->max, sequence->mean_square);
  print_result("  W          {}\n", *s.W);
  if (run.tolerance > 0)
    print_result("  clocks     of different workers are assumed to agree within {}\n",
                 show_duration(std::chrono::nanoseconds(run.tolerance)));
  if (const auto& limits = run.limits) {
    const char* const verdict = !limits->certified   ? "neither certified nor refused"
                                : *limits->certified ? "certified for this run"
                                                     : "NOT certified for this run";
    print_result("  eta {} with L {} is {}: {}\n", *options.eta, *options.L, verdict,
                 limits->certified_why);
    print_result(
        "  limits     {} certified without noise, {} and {} published (false in general)\n",
        limit_in_words(*limits->certified_eta), limit_in_words(limits->published_eta_1),
        limit_in_words(limits->published_eta_2));
  }
  print_result("  audit      {}\n", check.ok() ? "ok" : "FAILED");
}

int check_together(const CheckRequest& request) {
  const members::MembersCheck check = members::check_members(request.paths);
  std::uint64_t lost = 0;
  std::string by;
  for (const auto& [name, count] : check.lost) {
    lost += count;
    by += fmt::format("{}{}: {}", by.empty() ? " (" : ", ", name, count);
  }
  if (request.json) {
    print_result("{}\n", nlohmann::ordered_json{{"ok", check.ok()},
                                                {"members", check.members},
                                                {"survivors", check.survivors},
                                                {"left", check.left},
                                                {"unfinished", check.unfinished},
                                                {"set_hash", check.set_hash},
                                                {"replica_digest", check.replica_digest},
                                                {"gradients", check.gradients},
                                                {"applications", check.applications},
                                                {"applications_with_known_sets", check.known},
                                                {"lost_gradients", check.lost},
                                                {"abandoned", check.abandoned},
                                                {"violations", check.violations}}
                             .dump(2));
  } else {
    print_result("{}: {} ended{}, {} left, {} did not end\n", counted(check.members, "member"),
                 check.survivors, check.ok() && check.survivors > 1 ? " together" : "", check.left,
                 check.unfinished);
    print_result("  model      {} gradients, set {}, digest {}\n", show_count(check.gradients),
                 check.set_hash, check.replica_digest);
    print_result("  losses     {} known{}{}; abandoned {}\n", lost, by, by.empty() ? "" : ")",
                 check.abandoned);
    print_result(
        "  staleness  {} applications in traces, {} checked against the sets of their origin\n",
        show_count(check.applications), show_count(check.known));
    print_result("  audit      {}\n", check.ok() ? "ok" : "FAILED");
  }
  if (check.ok()) return done;
  print_note("dasgd: {}\n", check.violations.front());
  return run_failed;
}

/// What `dasgd report` and `dasgd export` leave of several runs, beside them: `runs/*` names it
/// too.
bool is_about_runs(const std::string& path) {
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) {
      return std::filesystem::exists(std::filesystem::path(path) / name);
    });
  };
  return has({"report.html", "charts", "runs.csv"}) && !is_sweep(path) &&
         !has({".dasgd", "config.toml", "members.json", "summary.json", "trace.jsonl"});
}

}  // namespace

int check_command(const CheckRequest& given) {
  CheckRequest request = given;
  std::erase_if(request.paths, [&](const std::string& path) {
    if (given.paths.size() == 1 || !is_about_runs(path)) return false;
    print_note("dasgd: {}: is a report or an export, not a run; skipped\n", path);
    return true;
  });
  if (request.paths.empty()) throw InputError("check: none of these is a run");
  if (std::all_of(request.paths.begin(), request.paths.end(), members::is_member_directory)) {
    if (request.options.eta || request.options.L)
      throw InputError("check: --eta and --L: no step of an elastic run is certified");
    return check_together(request);
  }
  if (request.paths.size() != 1)
    throw InputError(
        "check: several directories must be members of one elastic run; " +
        *std::find_if_not(request.paths.begin(), request.paths.end(),
                          members::is_member_directory) +
        " is not a member: it has no members.json (a loop that was killed has one only "
        "where dasgd launch was given --out, the directory of the loop's out=)");
  CheckOptions options = request.options;
  options.path = request.paths.front();
  const CheckedRun run = check_run(options);
  const TraceCheck& check = run.check;
  if (request.json) {
    print_result("{}\n", to_json(run));
  } else if (!check.events.empty() || check.ok()) {
    print_text(run, options);
  }
  if (check.ok()) return done;
  const Violation& first = check.violations.front();
  const std::size_t more = check.violations.size() - 1;
  print_note("dasgd: {}:{}: {}{}\n", run.trace, first.line, first.what,
             more > 0 ? fmt::format(" (and {} more)", more) : "");
  return run_failed;
}

}  // namespace dasgd::app
