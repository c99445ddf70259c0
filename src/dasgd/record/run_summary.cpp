#include "dasgd/record/run_summary.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/record/formats.hpp"
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

Json share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? Json(nullptr) : Json(static_cast<double>(part) / static_cast<double>(all));
}

void write_classes(const PartFigures& figures, Json& json) {
  const ClassCounts& counts = figures.counts;
  Json classes = Json::array();
  for (std::size_t k = 0; k < counts.classes(); ++k)
    classes.push_back({{"class", figures.classes.at(k)},
                       {"samples", counts.samples(k)},
                       {"recall", share_of(counts.right(k), counts.samples(k))},
                       {"precision", share_of(counts.right(k), counts.answers(k))}});
  json["classes"] = std::move(classes);
  if (!counts.has_table()) return;
  Json table = Json::array();
  for (std::size_t label = 0; label < counts.classes(); ++label) {
    Json row = Json::array();
    for (std::size_t answer = 0; answer < counts.classes(); ++answer)
      row.push_back(counts.taken_for(label, answer));
    table.push_back(std::move(row));
  }
  json["confusion"] = std::move(table);
}

Json parts_json(const RunSummary& s) {
  Json parts = Json::object();
  if (s.train_samples > 0)
    parts["train"] = {{"samples", s.train_samples}, {"loss", json_number(s.loss)}};
  for (const PartFigures& figures : s.parts) {
    Json& part = parts[figures.part];
    part["from"] = figures.from;
    part["samples"] = figures.samples;
    part["loss"] = json_number(figures.loss);
    if (figures.mse) part["mse"] = json_number(*figures.mse);
    if (figures.r2) part["r2"] = json_number(*figures.r2);
    if (const auto accuracy = figures.counts.accuracy()) part["accuracy"] = *accuracy;
    if (figures.counts.classes() > 0) write_classes(figures, part);
  }
  return parts;
}

Json digests_json(const std::vector<ReplicaDigest>& digests) {
  Json json = Json::array();
  for (const ReplicaDigest& one : digests) json.push_back(one.digest);
  return json;
}

Json or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

// All held; or one did not; or, none failed, but for some it is unknown.
Json assumptions_json(const std::vector<CheckedAssumption>& assumptions) {
  Json all = true, list = Json::array();
  for (const CheckedAssumption& a : assumptions) {
    if (!a.held && all != false) all = nullptr;
    if (a.held && !*a.held) all = false;
    list.push_back({{"name", a.name},
                    {"at_most", or_null(a.at_most)},
                    {"found", or_null(a.found)},
                    {"held", a.held ? Json(*a.held) : Json(nullptr)},
                    {"how", a.how}});
  }
  return {{"held", all}, {"list", list}};
}

}  // namespace

// The most frequent one comes last.
std::string difference(const std::vector<ReplicaDigest>& digests) {
  std::map<std::string, std::vector<std::string>> who;
  for (const ReplicaDigest& one : digests) who[one.digest].push_back(one.who);
  if (who.size() < 2) return {};
  std::vector<std::pair<std::string, std::vector<std::string>>> groups(who.begin(), who.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  constexpr std::size_t shown = 8;
  std::string text;
  for (const auto& [digest, names] : groups) {
    const std::size_t count = std::min(names.size(), shown);
    const std::vector<std::string> first(names.begin(),
                                         names.begin() + static_cast<std::ptrdiff_t>(count));
    text +=
        fmt::format("{}{}{} {} {}", text.empty() ? "" : ", ", fmt::join(first, " and "),
                    names.size() > count ? fmt::format(" and {} more", names.size() - count) : "",
                    names.size() > 1 ? "have" : "has", digest);
  }
  return text;
}

Json link_json(const LinkFigures& link) {
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  Json json{{"to", link.to},
            {"messages", link.messages},
            {"gradients", link.gradients},
            {"gradients_per_message",
             share(static_cast<double>(link.gradients), static_cast<double>(link.messages))},
            {"bytes", link.bytes},
            {"bytes_per_second", share(static_cast<double>(link.bytes), link.seconds)}};
  if (!link.relation.empty()) json["relation"] = link.relation;
  return json;
}

Json summary_json(const RunSummary& s) {
  // Where members die, some of what gradients knew never arrives: the others are reported all the
  // same.
  const bool has_S_hat = s.staleness.S_hat_known || s.elastic;
  Json json{
      {"workers", s.workers},
      {"gradients", s.gradients},
      {"gradients_by_worker", s.gradients_by_worker},
      {"lost", s.lost},
      {"duplicated", s.duplicated},
      {"copies_dropped", s.copies_dropped},
      {"replicas_identical", s.replicas_compared ? Json(s.replicas_identical) : nullptr},
      {"replica_digest", s.replica_digest},
      {"digest_of_all", digests_json(s.digest_of_all)},
      {"S_avg", s.staleness.S_avg},
      {"S_max", s.staleness.S_max},
      {"S_hat_avg", has_S_hat ? Json(s.staleness.S_hat_avg) : nullptr},
      {"S_hat_max", has_S_hat ? Json(s.staleness.S_hat_max) : nullptr},
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
  json["evaluated_part"] = s.evaluated_part;
  json["evaluated_model"] = "worker 0";  // and every other's, once the run is drained
  if (s.best) {
    if (s.best->accuracy) json["best_accuracy"] = json_number(*s.best->accuracy);
    if (s.best->loss) json["best_eval_loss"] = json_number(*s.best->loss);
    json["best_seconds"] = s.best->seconds;
  }
  if (s.target_met) json["target_met"] = *s.target_met;
  json["parts"] = parts_json(s);
  json["model"] = s.model_is_last_good ? "last good" : "final";
  json["halvings"] = s.halvings;
  json["fixed_step"] = s.fixed_step;
  json["message"] = to_string(s.message);
  if (!s.relay.empty()) json["relay"] = s.relay;
  if (!s.links_why.empty()) json["links_why"] = s.links_why;
  if (!s.residual_norms.empty()) json["residual_norms"] = s.residual_norms;
  json["look_ahead"] = s.lambda;
  json["missing_estimated"] = s.look_ahead ? Json(s.look_ahead->missing_estimated) : nullptr;
  json["missing_true"] = s.look_ahead ? Json(s.look_ahead->missing_true) : nullptr;
  json["gap"] = s.look_ahead ? Json(json_number(s.look_ahead->gap)) : nullptr;
  if (s.step) {
    write(*s.step, json);
  } else {
    json["certified"] = nullptr;
    json["certified_why"] = "the smoothness of the objective is not known; `guard.L` gives it";
  }
  if (!s.assumptions.empty()) json["assumptions"] = assumptions_json(s.assumptions);
  if (s.arrivals) {
    const double seconds = s.virtual_seconds.value_or(s.wall_seconds);
    json["arrivals"] = {
        {"arrived", s.arrivals->arrived},
        {"arrived_per_second", json_number(static_cast<double>(s.arrivals->arrived) / seconds)},
        {"learned", s.samples},
        {"learned_per_second", json_number(s.samples_per_second)},
        {"prequential_accuracy", or_null(s.arrivals->prequential)}};
    if (s.elastic) json["arrivals"]["learned_by"] = "all members";
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
  if (!s.speeds.empty()) json["speeds"] = s.speeds;
  json["wall_seconds"] = s.wall_seconds;
  if (s.virtual_seconds) json["virtual_seconds"] = *s.virtual_seconds;
  if (s.resumed)
    json["resumed"] = {{"leg", s.resumed->leg},
                       {"gradients", s.resumed->gradients},
                       {"samples", s.resumed->samples},
                       {"seconds", s.resumed->seconds}};
  json["version"] = version();
  json["formats"] = {{"run_directory", run_directory_format}, {"trace", trace_format}};
  json["seed"] = s.seed;
  if (s.elastic) {
    const MemberFigures& m = *s.elastic;
    json["name"] = m.name;
    json["origin"] = m.origin;
    json["members"] = m.members;
    json["members_at_end"] = m.at_end;
    json["left"] = m.left;
    json["lost_members"] = m.lost;
    json["lost_gradients"] = m.lost_gradients;
    json["abandoned"] = m.abandoned;
    json["joined_at_step"] = m.joined_at_step;
    json["too_late"] = m.too_late;
    json["S_hat_untold"] = s.staleness.S_hat_untold;
    json["set_hash"] = m.set_hash;
    json["links"] = Json::array();
    for (const LinkFigures& link : m.links) json["links"].push_back(link_json(link));
  }
  if (s.clocks) {
    json["ranks"] = s.clocks->offsets.size();
    json["clock_offsets"] = s.clocks->offsets;
    json["clock_drift"] = s.clocks->drift;
    json["clock_tolerance"] = s.clocks->tolerance;
  }
  return json;
}

std::string to_json(const RunSummary& summary) {
  // Names of classes and files may be bytes of any kind.
  return summary_json(summary).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_trace_line(const RankClocks& clocks) {
  return Json{{"ev", "clocks"}, {"tolerance", clocks.tolerance}}.dump() + "\n";
}

const char* version() { return DASGD_VERSION; }

}  // namespace dasgd
