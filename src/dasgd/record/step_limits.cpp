#include "dasgd/record/step_limits.hpp"

#include <cmath>
#include <fmt/format.h>

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

void certify(const StalenessSummary& s, const CertificateTerms& terms, StepLimits& limits) {
  if (terms.noise.value_or(false)) {
    limits.certified_why =
        "gradients of mini-batches carry noise; the certificate is for gradients without noise";
    return;
  }
  if (terms.look_ahead) {
    limits.certified_why =
        "with look-ahead gradients are computed ahead of the replicas; the certificate is for "
        "gradients at the replicas";
    return;
  }
  if (!s.W) {
    limits.certified_why =
        terms.members ? "W is not kept in elastic runs"
                      : "W is not kept for this many workers; dasgd check computes it from a trace";
    return;
  }
  limits.certified = false;
  if (!terms.fixed_step) {
    limits.certified_why = not_plain_sgd;
  } else if (!terms.complete) {
    limits.certified_why = "the run is neither drained nor causal";
  } else {
    limits.certified = theory::certified(limits.eta, limits.L, *s.W);
    const double left =
        theory::certificate_condition(limits.eta, limits.L, static_cast<double>(*s.W));
    limits.certified_why =
        fmt::format("eta L + eta^2 L^2 W is {:.4g}, {} 1, with L = {:.6g} and W = {}{}", left,
                    *limits.certified ? "at most" : "above", limits.L, *s.W,
                    terms.noise ? "" : "; if gradients have no noise, which a trace does not say");
  }
}

}  // namespace

StepLimits step_limits(const StalenessSummary& s, double eta, double L,
                       const CertificateTerms& terms) {
  StepLimits limits{.eta = eta, .L = L, .noise = terms.noise};
  certify(s, terms, limits);
  if (s.W) limits.certified_eta = theory::certified_eta(L, *s.W);
  limits.a_priori_eta = theory::a_priori_eta(L, static_cast<double>(s.S_max));
  limits.published_eta_1 = theory::published_eta_1(L, s.S_avg);
  limits.published_eta_2 =
      s.S_hat_known ? theory::published_eta_2(L, s.S_hat_avg, static_cast<double>(s.S_hat_max))
                    : std::nan("");
  return limits;
}

void write(const StepLimits& limits, nlohmann::ordered_json& json) {
  json["eta"] = limits.eta;
  json["L"] = limits.L;
  json["noise"] = limits.noise ? nlohmann::ordered_json(*limits.noise) : nullptr;
  json["certified"] = limits.certified ? nlohmann::ordered_json(*limits.certified) : nullptr;
  json["certified_why"] = limits.certified_why;
  json["certified_eta"] =
      limits.certified_eta ? json_number(*limits.certified_eta) : nlohmann::ordered_json(nullptr);
  json["a_priori_eta"] = json_number(limits.a_priori_eta);
  json["published_eta_1"] = json_number(limits.published_eta_1);
  json["published_eta_2"] = json_number(limits.published_eta_2);
  if (limits.certificate) json["certificate_measured"] = to_json(*limits.certificate);
  if (limits.published) json["published_measured"] = to_json(*limits.published);
}

}  // namespace dasgd
