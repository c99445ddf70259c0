#include "dasgd/record/run_summary.hpp"

#include "dasgd/record/json_number.hpp"
#include "dasgd/record/run_summary_json.hpp"
#include "dasgd/record/step_limits_json.hpp"

namespace dasgd {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Residual& residual) {
  Json json{
      {"mean_squared_Delta", json_number(residual.mean)}, {"bound", nullptr}, {"ratio", nullptr}};
  if (residual.bound) {
    json["bound"] = json_number(*residual.bound);
    json["ratio"] = json_number(residual.mean / *residual.bound);
  }
  return json;
}

}  // namespace

Json summary_json(const RunSummary& s) {
  Json json{
      {"workers", s.workers},
      {"gradients", s.gradients},
      {"gradients_by_worker", s.gradients_by_worker},
      {"lost", s.lost},
      {"duplicated", s.duplicated},
      {"copies_dropped", s.copies_dropped},
      {"replicas_identical", s.replicas_identical},
      {"replica_digest", s.replica_digest},
      {"S_avg", s.staleness.S_avg},
      {"S_max", s.staleness.S_max},
      {"S_hat_avg", s.staleness.S_hat_known ? Json(s.staleness.S_hat_avg) : nullptr},
      {"S_hat_max", s.staleness.S_hat_known ? Json(s.staleness.S_hat_max) : nullptr},
      {"S_mean_square", s.staleness.S_mean_square},
      {"W", s.staleness.W ? Json(*s.staleness.W) : nullptr},
      {"noncausal_applications", s.noncausal_applications},
      {"folded", s.folded},
      {"waited_seconds", s.waited_seconds},
      {"messages_sent", s.messages_sent},
      {"bytes_sent", s.bytes_sent},
      {"sampling", s.sampling},
      {"iterations", s.iterations},
      {"time", s.time},
      {"stop_reason", to_string(s.stop_reason)},
      {"samples", s.samples},
      {"samples_per_second", json_number(s.samples_per_second)},
      {"loss", json_number(s.loss)},
  };
  if (s.accuracy) json["accuracy"] = json_number(*s.accuracy);
  if (s.eval_loss) json["eval_loss"] = json_number(*s.eval_loss);
  if (s.best) {
    if (s.best->accuracy) json["best_accuracy"] = json_number(*s.best->accuracy);
    if (s.best->loss) json["best_eval_loss"] = json_number(*s.best->loss);
    json["best_seconds"] = s.best->seconds;
  }
  json["model"] = s.model_is_last_good ? "last good" : "final";
  json["halvings"] = s.halvings;
  if (s.step) {
    write(*s.step, json);
  } else {
    json["certified"] = nullptr;
    json["certified_why"] = "the smoothness of the objective is not known; --L gives it";
  }
  if (s.residuals) {
    json["residuals_measured"] = {
        {"lemma_7", to_json(s.residuals->lemma_7)},
        {"lemma_8", to_json(s.residuals->lemma_8)},
        {"mean_squared_distance", json_number(s.residuals->distance)},
        {"max_replica_distance", json_number(s.residuals->max_replica_distance)}};
  } else if (!s.residuals_why.empty()) {
    json["residuals_measured"] = nullptr;
    json["residuals_why"] = s.residuals_why;
  }
  json["wall_seconds"] = s.wall_seconds;
  if (s.virtual_seconds) json["virtual_seconds"] = *s.virtual_seconds;
  if (s.resumed)
    json["resumed"] = {{"leg", s.resumed->leg},
                       {"gradients", s.resumed->gradients},
                       {"samples", s.resumed->samples},
                       {"seconds", s.resumed->seconds}};
  json["version"] = version();
  json["seed"] = s.seed;
  if (s.clocks) {
    json["ranks"] = s.clocks->offsets.size();
    json["clock_offsets"] = s.clocks->offsets;
    json["clock_drift"] = s.clocks->drift;
    json["clock_tolerance"] = s.clocks->tolerance;
  }
  return json;
}

std::string to_json(const RunSummary& summary) { return summary_json(summary).dump(2) + "\n"; }

std::string to_trace_line(const RankClocks& clocks) {
  return Json{{"ev", "clocks"}, {"tolerance", clocks.tolerance}}.dump() + "\n";
}

const char* version() { return DASGD_VERSION; }

}  // namespace dasgd
