#include "dasgd/core/look_ahead.hpp"

#include "dasgd/base/input_error.hpp"
#include "dasgd/base/units.hpp"

namespace dasgd {

void LookAheadFigures::add(const LookAheadFigures& other) {
  const std::uint64_t all = gradients + other.gradients;
  if (all == 0) return;
  const double share = static_cast<double>(other.gradients) / static_cast<double>(all);
  const auto mix = [share](double& mine, double theirs) { mine += share * (theirs - mine); };
  mix(lambda, other.lambda);
  mix(missing_estimated, other.missing_estimated);
  mix(missing_true, other.missing_true);
  mix(gap, other.gap);
  gradients = all;
}

LookAhead parse_look_ahead(const std::string& text) {
  if (text == "off") return {};
  if (text == "auto") return {LookAhead::Kind::automatic};
  double lambda = -1;
  try {
    lambda = parse_real(text);
  } catch (const InputError&) {
  }
  if (!(lambda >= 0 && lambda <= 1))
    throw InputError("\"" + text + "\" is neither off, auto nor a number from 0 to 1");
  return lambda == 0 ? LookAhead{} : LookAhead{LookAhead::Kind::fixed, lambda};
}

std::string to_string(const LookAhead& how) {
  if (how.is_off()) return "off";
  return how.kind == LookAhead::Kind::automatic ? "auto" : show_real(how.lambda);
}

}  // namespace dasgd
