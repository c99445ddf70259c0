#include "dasgd/advice/advice_json.hpp"

#include <nlohmann/json.hpp>

#include "dasgd/record/json_number.hpp"

namespace dasgd {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Estimate& e) {
  return {{"value", json_number(e.value)},
          {"interval", Json::array({json_number(e.low), json_number(e.high)})},
          {"how", e.how},
          {"samples", e.samples}};
}

Json to_json(const PilotStaleness& expected) {
  const StalenessSummary& s = expected.figures;
  return {{"S_avg", s.S_avg},
          {"S_max", s.S_max},
          {"S_hat_avg", s.S_hat_known ? Json(s.S_hat_avg) : Json()},
          {"S_hat_max", s.S_hat_known ? Json(s.S_hat_max) : Json()},
          {"S_mean_square", s.S_mean_square},
          {"W", s.W ? Json(*s.W) : Json(nullptr)},
          {"noncausal_applications", expected.noncausal},
          {"gradients_per_second", json_number(expected.gradients_per_second)},
          {"how", expected.how}};
}

Json to_json(const std::vector<AtMost>& assumes) {
  Json json = Json::object();
  for (const AtMost& a : assumes) json[a.name] = json_number(a.value);
  return json;
}

}  // namespace

std::string to_json(const Advice& advice) {
  const ProblemConstants& c = advice.constants;
  Json limits = Json::array(), promises = Json::array(), tried = Json::array();
  for (const TriedStep& t : advice.practical.tried)
    tried.push_back({{"eta", json_number(t.eta)},
                     {"gradients", t.gradients},
                     {"loss", t.loss ? json_number(*t.loss) : Json(nullptr)}});
  for (const StepSizeLimit& l : advice.limits)
    limits.push_back({{"name", l.name},
                      {"eta", l.eta},
                      {"status", l.status},
                      {"grounds", l.grounds},
                      {"assumes", to_json(l.assumes)}});
  for (const Promise& p : advice.promises)
    promises.push_back({{"name", p.name},
                        {"eta", json_number(p.eta)},
                        {"iterations", json_number(p.iterations)},
                        {"seconds", json_number(p.seconds)},
                        {"grounds", p.grounds},
                        {"assumes", to_json(p.assumes)}});
  const Json json{{"constants",
                   {{"L", to_json(c.L)},
                    {"sigma2", to_json(c.sigma2)},
                    {"Q", to_json(c.Q)},
                    {"r0", to_json(c.r0)}}},
                  {"staleness", to_json(advice.staleness)},
                  {"horizon", advice.horizon ? json_number(*advice.horizon) : Json(nullptr)},
                  {"limits", limits},
                  {"recommended_eta", json_number(advice.recommended_eta)},
                  {"recommended_status", advice.recommended_status},
                  {"grounds", advice.grounds},
                  {"assumes", to_json(advice.assumes)},
                  {"practical_eta", json_number(advice.practical.eta)},
                  {"practical_how", advice.practical.how},
                  {"practical_schedule", to_string(advice.practical.schedule)},
                  {"tried", tried},
                  {"accuracy", json_number(advice.accuracy)},
                  {"promises", promises}};
  return json.dump(2) + "\n";
}

}  // namespace dasgd
