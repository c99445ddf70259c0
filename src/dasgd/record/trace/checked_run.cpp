#include "dasgd/record/trace/checked_run.hpp"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/step_limits_json.hpp"
#include "dasgd/record/summary_check.hpp"
#include "dasgd/record/trace/trace_reader.hpp"

namespace dasgd {
namespace {

// The summary of the run beside the trace; null where there is none.
nlohmann::json summary_beside(const std::string& trace) {
  std::ifstream in = open_file(std::filesystem::path(trace).parent_path() / "summary.json");
  return in ? parse_json(in) : nlohmann::json();
}

// Whether the run had noise, where its summary says so.
std::optional<bool> noise_of(const nlohmann::json& summary) {
  if (!summary.is_object() || !summary.contains("noise") || !summary["noise"].is_boolean())
    return std::nullopt;
  return summary["noise"].get<bool>();
}

// Whether its steps were those of plain SGD; older summaries say it only in words.
bool had_fixed_step(const nlohmann::json& summary) {
  if (!summary.is_object()) return true;
  if (const auto fixed = summary.find("fixed_step"); fixed != summary.end() && fixed->is_boolean())
    return fixed->get<bool>();
  return summary.value("certified_why", nlohmann::json()) != not_plain_sgd;
}

bool looked_ahead(const nlohmann::json& summary) {
  if (!summary.is_object() || !summary.contains("look_ahead")) return false;
  const auto& lambda = summary["look_ahead"];
  return std::any_of(lambda.begin(), lambda.end(), [](const auto& one) {
    return one.is_number() && one.template get<double>() > 0;
  });
}

void require_positive(const char* option, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError(fmt::format("{} {}: must be a positive number", option, value));
}

}  // namespace

CheckedRun check_run(const CheckOptions& options) {
  const bool whole_run = std::filesystem::is_directory(options.path);
  CheckedRun run{.trace = options.path + (whole_run ? "/trace.jsonl" : "")};
  if (options.eta.has_value() != options.L.has_value())
    throw InputError("`eta` and `L` belong together: the certificate needs both");
  if (options.eta) {
    require_positive("`eta`", *options.eta);
    require_positive("`L`", *options.L);
  }
  const TraceFile trace = read_trace(run.trace);
  run.tolerance = options.tolerance.value_or(trace.tolerance);
  TraceCheck& check = run.check;
  check = check_trace(trace.applications, run.tolerance);
  check.violations.insert(check.violations.begin(), trace.malformed.begin(), trace.malformed.end());
  const nlohmann::json summary = summary_beside(run.trace);
  if (whole_run && !summary.is_null()) {
    for (Violation& violation : contradictions(check, summary))
      check.violations.push_back(std::move(violation));
  } else if (trace.applications.empty() && check.ok()) {
    check.violations.push_back({1, "the trace holds no application"});
  }
  sort_violations(check.violations);
  const bool applies = !check.events.empty() && (check.drained || check.causal());
  if (options.eta)
    run.limits = step_limits(check.staleness, *options.eta, *options.L,
                             {.noise = noise_of(summary),
                              .fixed_step = had_fixed_step(summary),
                              .complete = applies,
                              .look_ahead = looked_ahead(summary)});
  run.sequence = virtual_sequence(trace.applications);
  return run;
}

std::string describe(const Violation& violation) {
  return fmt::format("line {}: {}", violation.line, violation.what);
}

std::string to_json(const CheckedRun& run) {
  using Json = nlohmann::ordered_json;
  const TraceCheck& check = run.check;
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
            {"clock_tolerance", run.tolerance},
            {"S_avg", s.S_avg},
            {"S_max", s.S_max},
            {"S_hat_avg", s.S_hat_avg},
            {"S_hat_max", s.S_hat_max},
            {"S_mean_square", s.S_mean_square},
            {"W", *s.W},
            {"sum_S", check.sum_S}};
  if (run.sequence) {
    json["R_avg"] = run.sequence->mean;
    json["R_max"] = run.sequence->max;
    json["R_mean_square"] = run.sequence->mean_square;
  }
  if (run.limits) write(*run.limits, json);
  json["events"] = events;
  return json.dump();
}

}  // namespace dasgd
