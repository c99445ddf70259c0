#include "dasgd/record/step_limits.hpp"

#include "dasgd/record/json_number.hpp"
#include "dasgd/record/step_limits_json.hpp"
#include "dasgd/theory/step_size.hpp"

namespace dasgd {
namespace {

nlohmann::ordered_json to_json(const MeasuredBound& bound) {
  return {{"sum_of_squared_gradients", json_number(bound.left)},
          {"bound", json_number(bound.right)},
          {"ratio", json_number(bound.ratio())}};
}

}  // namespace

StepLimits step_limits(const StalenessSummary& s, double eta, double L, bool applies) {
  StepLimits limits{.eta = eta, .L = L};
  if (s.W) {
    limits.certified = applies && theory::certified(eta, L, *s.W);
    limits.certified_eta = theory::certified_eta(L, *s.W);
  }
  limits.a_priori_eta = theory::a_priori_eta(L, static_cast<double>(s.S_max));
  limits.published_eta_1 = theory::published_eta_1(L, s.S_avg);
  limits.published_eta_2 =
      theory::published_eta_2(L, s.S_hat_avg, static_cast<double>(s.S_hat_max));
  return limits;
}

void write(const StepLimits& limits, nlohmann::ordered_json& json) {
  json["eta"] = limits.eta;
  json["L"] = limits.L;
  json["certified"] = limits.certified ? nlohmann::ordered_json(*limits.certified) : nullptr;
  json["certified_eta"] =
      limits.certified_eta ? json_number(*limits.certified_eta) : nlohmann::ordered_json(nullptr);
  json["a_priori_eta"] = json_number(limits.a_priori_eta);
  json["published_eta_1"] = json_number(limits.published_eta_1);
  json["published_eta_2"] = json_number(limits.published_eta_2);
  if (limits.certificate) json["certificate_measured"] = to_json(*limits.certificate);
  if (limits.published) json["published_measured"] = to_json(*limits.published);
}

}  // namespace dasgd
