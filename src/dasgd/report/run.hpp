// One run directory, as far as it is there.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/report/metrics_series.hpp"
#include "dasgd/report/trace_digest.hpp"

namespace dasgd::report {

/// A limit of the step size, as a run wrote it down.
struct EtaLimit {
  std::string name;
  double eta = 0;
  std::string status;  ///< proved, published, ...
};

struct Run {
  std::string path;
  std::string name;   ///< of the directory
  std::string label;  ///< what distinguishes it from the runs beside it
  /// What a reader must know: what is missing, unreadable or left out.
  std::vector<std::string> notes;
  std::vector<std::string> damaged;  ///< of these, about files that are left out
  bool ended = false;                ///< there is a summary, hence an audit
  nlohmann::ordered_json config;     ///< "topology.kind": value, flat
  nlohmann::ordered_json summary;    ///< as written; null where there is none
  nlohmann::ordered_json advice;     ///< the grounds of --lr auto; null where there are none
  nlohmann::ordered_json samples;    ///< images with answers; null where there are none
  nlohmann::ordered_json worst;      ///< worst.json; null where there is none
  nlohmann::ordered_json members;    ///< of an elastic run, see read_membership; null else
  std::vector<EtaLimit> limits;      ///< of the staleness that was measured; from the summary
  MetricsSeries metrics;
  std::optional<TraceDigest> trace;

  bool is_virtual() const { return summary.contains("virtual_seconds"); }
};

/// Called with every application of the trace, in its order.
using OnApplication = std::function<void(const TraceLine&)>;

/// Reads config.toml, summary.json, advice.json, samples.json, metrics.jsonl and trace.jsonl, or
/// what a run that was killed left of them (NAME.partial). Throws InputError when there is no run
/// at all.
Run read_run(const std::string& directory, const DigestLimits& limits = {},
             const OnApplication& on_application = {});

/// Reads the text of a config.toml into a flat object. Throws InputError.
nlohmann::ordered_json flat_config(const std::string& toml);

/// The limits that a summary has.
std::vector<EtaLimit> limits_of(const nlohmann::ordered_json& summary);

/// A text that a summary has, or `otherwise` where it has none.
std::string text_of(const nlohmann::ordered_json& summary, const char* key, const char* otherwise);

/// Labels the runs by the settings in which they differ, or by their names.
void label_by_difference(std::vector<Run>& runs);

}  // namespace dasgd::report
