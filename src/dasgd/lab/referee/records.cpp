#include "dasgd/lab/referee/records.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "dasgd/base/units.hpp"
#include "dasgd/record/json_number.hpp"

namespace dasgd {
namespace {

using Json = nlohmann::ordered_json;

Json numbers(const std::optional<double>& value) { return value ? json_number(*value) : Json(); }

double real(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}
std::optional<double> maybe(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(real(json));
}

std::string cell(double value) { return std::isfinite(value) ? show_real(value) : "nan"; }
std::string cell(const std::optional<double>& value) { return value ? cell(*value) : ""; }
// Labels have colons and equal signs, and worlds may be paths.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Json to_json(const ContestRun& run) {
  Json curve = Json::array();
  for (const CurvePoint& p : run.curve)
    curve.push_back({p.time_s, p.gradients, p.bytes, json_number(p.loss_mean),
                     numbers(p.accuracy_mean), json_number(p.consensus)});
  return {{"rival", run.rival},
          {"world", run.world},
          {"seed", run.seed},
          {"eta", run.eta},
          {"tuned", run.tuned},
          {"reached", run.reached},
          {"time_s", run.time_s},
          {"gradients_used", run.gradients_used},
          {"gradients_wasted", run.gradients_wasted},
          {"samples", run.samples},
          {"S_avg", numbers(run.S_avg)},
          {"S_max", numbers(run.S_max)},
          {"messages", run.messages},
          {"bytes_total", run.bytes_total},
          {"bytes_busiest_node", run.bytes_busiest_node},
          {"idle_share", run.idle_share},
          {"consensus", json_number(run.consensus)},
          {"loss_mean", json_number(run.loss_mean)},
          {"loss_worst", json_number(run.loss_worst)},
          {"accuracy_mean", numbers(run.accuracy_mean)},
          {"accuracy_worst", numbers(run.accuracy_worst)},
          {"memory_models", run.memory_models},
          {"lost_updates", run.lost_updates},
          {"lost", run.lost},
          {"curve", curve}};
}

ContestRun run_from_json(const Json& json) {
  ContestRun run;
  json.at("rival").get_to(run.rival);
  json.at("world").get_to(run.world);
  json.at("seed").get_to(run.seed);
  json.at("eta").get_to(run.eta);
  json.at("tuned").get_to(run.tuned);
  json.at("reached").get_to(run.reached);
  json.at("time_s").get_to(run.time_s);
  json.at("gradients_used").get_to(run.gradients_used);
  json.at("gradients_wasted").get_to(run.gradients_wasted);
  json.at("samples").get_to(run.samples);
  run.S_avg = maybe(json.at("S_avg"));
  run.S_max = maybe(json.at("S_max"));
  json.at("messages").get_to(run.messages);
  json.at("bytes_total").get_to(run.bytes_total);
  json.at("bytes_busiest_node").get_to(run.bytes_busiest_node);
  json.at("idle_share").get_to(run.idle_share);
  run.consensus = real(json.at("consensus"));
  run.loss_mean = real(json.at("loss_mean"));
  run.loss_worst = real(json.at("loss_worst"));
  run.accuracy_mean = maybe(json.at("accuracy_mean"));
  run.accuracy_worst = maybe(json.at("accuracy_worst"));
  json.at("memory_models").get_to(run.memory_models);
  json.at("lost_updates").get_to(run.lost_updates);
  json.at("lost").get_to(run.lost);
  for (const Json& p : json.at("curve"))
    run.curve.push_back({p[0].get<double>(), p[1].get<std::uint64_t>(), p[2].get<std::uint64_t>(),
                         real(p[3]), maybe(p[4]), real(p[5])});
  return run;
}

std::string runs_csv(const std::vector<ContestRow>& rows) {
  std::string text =
      "rival,world,seed,eta,tuned,reached,time_s,gradients_used,gradients_wasted,samples,S_avg,"
      "S_max,messages,bytes_total,bytes_busiest_node,idle_share,consensus,loss_mean,loss_worst,"
      "accuracy_mean,accuracy_worst\n";
  for (const ContestRow& row : rows)
    for (const ContestRun& r : row.runs)
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell(r.rival),
          cell(r.world), r.seed, cell(r.eta), r.tuned, r.reached, cell(r.time_s), r.gradients_used,
          r.gradients_wasted, r.samples, cell(r.S_avg), cell(r.S_max), r.messages, r.bytes_total,
          r.bytes_busiest_node, cell(r.idle_share), cell(r.consensus), cell(r.loss_mean),
          cell(r.loss_worst), cell(r.accuracy_mean), cell(r.accuracy_worst));
  return text;
}

std::string curves_csv(const std::vector<ContestRow>& rows) {
  std::string text = "rival,world,seed,time_s,gradients,bytes,loss_mean,accuracy_mean,consensus\n";
  for (const ContestRow& row : rows)
    for (const ContestRun& r : row.runs)
      for (const CurvePoint& p : r.curve)
        text += fmt::format("{},{},{},{},{},{},{},{},{}\n", cell(r.rival), cell(r.world), r.seed,
                            cell(p.time_s), p.gradients, p.bytes, cell(p.loss_mean),
                            cell(p.accuracy_mean), cell(p.consensus));
  return text;
}

}  // namespace dasgd
