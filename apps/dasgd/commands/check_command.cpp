#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/step_limits_json.hpp"
#include "dasgd/record/summary_check.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "dasgd/staleness/virtual_sequence.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

using Json = nlohmann::ordered_json;

std::string describe(const Violation& violation) {
  return fmt::format("line {}: {}", violation.line, violation.what);
}

void print_json(const TraceCheck& check, Nanoseconds tolerance,
                const std::optional<VirtualSequence>& sequence,
                const std::optional<StepLimits>& limits) {
  Json violations = Json::array();
  for (const Violation& violation : check.violations) violations.push_back(describe(violation));
  Json events = Json::array();
  for (const auto& e : check.events)
    events.push_back(
        {{"worker", index(e.worker)}, {"step", e.step}, {"S", e.S}, {"S_hat", e.S_hat}});
  const StalenessSummary& s = check.staleness;
  Json json{{"ok", check.ok()},
            {"violations", violations},
            {"workers", check.workers},
            {"gradients", check.gradients},
            {"causal", check.causal()},
            {"noncausal_applications", check.noncausal_applications},
            {"drained", check.drained},
            {"clock_tolerance", tolerance},
            {"S_avg", s.S_avg},
            {"S_max", s.S_max},
            {"S_hat_avg", s.S_hat_avg},
            {"S_hat_max", s.S_hat_max},
            {"S_mean_square", s.S_mean_square},
            {"W", *s.W},
            {"sum_S", check.sum_S}};
  if (sequence) {
    json["R_avg"] = sequence->mean;
    json["R_max"] = sequence->max;
    json["R_mean_square"] = sequence->mean_square;
  }
  if (limits) write(*limits, json);
  json["events"] = events;
  print_result("{}\n", json.dump());
}

void print_text(const TraceCheck& check, const CheckRequest& request, Nanoseconds tolerance,
                const std::optional<VirtualSequence>& sequence,
                const std::optional<StepLimits>& limits) {
  const StalenessSummary& s = check.staleness;
  print_result("{}: {} workers, {} gradients, {} applications\n", request.path, check.workers,
               show_count(check.gradients), show_count(check.events.size()));
  print_result("  delivery   {}\n", check.causal()
                                        ? "causal"
                                        : fmt::format("not causal at {} applications",
                                                      show_count(check.noncausal_applications)));
  print_result("  staleness  S_avg {:.4f}, S_max {}, mean square {:.4f}\n", s.S_avg, s.S_max,
               s.S_mean_square);
  print_result("  loose      S_hat_avg {:.4f}, S_hat_max {}\n", s.S_hat_avg, s.S_hat_max);
  if (sequence)
    print_result("  virtual    R_avg {:.4f}, R_max {}, mean square {:.4f}\n", sequence->mean,
                 sequence->max, sequence->mean_square);
  print_result("  W          {}\n", *s.W);
  if (tolerance > 0)
    print_result("  clocks     of different workers are taken to agree within {}\n",
                 show_duration(std::chrono::nanoseconds(tolerance)));
  if (limits) {
    const char* const verdict = !limits->certified   ? "neither certified nor refused"
                                : *limits->certified ? "certified for this run"
                                                     : "NOT certified for this run";
    print_result("  eta {} with L {} is {}: {}\n", *request.eta, *request.L, verdict,
                 limits->certified_why);
    print_result(
        "  limits     {:.6g} certified without noise, {:.6g} and {:.6g} published (false in "
        "general)\n",
        *limits->certified_eta, limits->published_eta_1, limits->published_eta_2);
  }
  print_result("  audit      {}\n", check.ok() ? "ok" : "FAILED");
}

// The summary of the run beside the trace; null where there is none.
nlohmann::json summary_beside(const std::string& trace) {
  std::ifstream in(std::filesystem::path(trace).parent_path() / "summary.json");
  return in ? nlohmann::json::parse(in, nullptr, false) : nlohmann::json();
}

// Whether the run had noise, where its summary says so.
std::optional<bool> noise_of(const nlohmann::json& summary) {
  if (!summary.is_object() || !summary.contains("noise") || !summary["noise"].is_boolean())
    return std::nullopt;
  return summary["noise"].get<bool>();
}

void require_positive(const char* option, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError(fmt::format("{} {}: must be a positive number", option, value));
}

}  // namespace

int check_command(CheckRequest request) {
  const bool whole_run = std::filesystem::is_directory(request.path);
  if (whole_run) request.path += "/trace.jsonl";
  if (request.eta.has_value() != request.L.has_value())
    throw InputError("--eta and --L belong together: the certificate needs both");
  if (request.eta) {
    require_positive("--eta", *request.eta);
    require_positive("--L", *request.L);
  }
  const TraceFile trace = read_trace(request.path);
  const Nanoseconds tolerance = request.tolerance.value_or(trace.tolerance);
  TraceCheck check = check_trace(trace.applications, tolerance);
  check.violations.insert(check.violations.begin(), trace.malformed.begin(), trace.malformed.end());
  const nlohmann::json summary = summary_beside(request.path);
  if (whole_run && !summary.is_null()) {
    for (Violation& violation : contradictions(check, summary))
      check.violations.push_back(std::move(violation));
  } else if (trace.applications.empty() && check.ok()) {
    check.violations.push_back({1, "the trace holds no application"});
  }
  sort_violations(check.violations);
  const bool applies = !check.events.empty() && (check.drained || check.causal());
  std::optional<StepLimits> found;
  if (request.eta)
    found = step_limits(check.staleness, *request.eta, *request.L,
                        {.noise = noise_of(summary), .complete = applies});
  const auto sequence = virtual_sequence(trace.applications);
  if (request.json) {
    print_json(check, tolerance, sequence, found);
  } else if (!check.events.empty() || check.ok()) {
    print_text(check, request, tolerance, sequence, found);
  }
  if (check.ok()) return done;
  const Violation& first = check.violations.front();
  const std::size_t more = check.violations.size() - 1;
  print_note("dasgd: {}:{}: {}{}\n", request.path, first.line, first.what,
             more > 0 ? fmt::format(" (and {} more)", more) : "");
  return run_failed;
}

}  // namespace dasgd::app
