#include "dasgd/core/look_ahead_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dasgd {
namespace {

constexpr double pairs_remembered = 16;
constexpr double least_lambda = 0.75;  // that `auto` chooses

}  // namespace

void Signal::add(double product, double square) {
  if (!std::isfinite(product) || !std::isfinite(square)) return;
  pairs_ += 1;
  const double share = 1 / std::min(pairs_, pairs_remembered);
  products_ += share * (product - products_);
  squares_ += share * (square - squares_);
}

double Signal::ratio() const {
  const double signal = std::max(0.0, products_), noise = squares_ - signal;
  if (pairs_ == 0 || noise <= 0) return std::numeric_limits<double>::infinity();
  return signal / noise;
}

LookAheadPlan::LookAheadPlan(WorkerId self, LookAhead how, double averaged)
    : how_(how),
      distance_(static_cast<std::uint64_t>(std::ceil(1.5 * averaged))),
      missing_(self, how.is_off() ? 0 : how.workers) {}

void LookAheadPlan::begin() {
  lambda_ = chosen_lambda();
  if (how_.kind == LookAhead::Kind::automatic)
    pull_ = 1 / std::pow(std::max(1.0, missing_.mean_window(own_)), 2);
  expected_ += missing_.expected(own_);
}

// All workers share the error (1 - lambda) M u, where M updates of mean u are missing. What noise
// adds is different at each: over all of them it counts like lambda^2 M times the noise of one. But
// the steps that look-ahead allows are stable only while lambda is near 1, so that noise takes away
// a little, and only where windows are long (docs/look_ahead.md has the experiments).
double LookAheadPlan::chosen_lambda() const {
  if (how_.kind == LookAhead::Kind::fixed) return how_.lambda;
  const double share = missing_.delayed(own_) * signal_.ratio();
  const double noise = std::isfinite(share) ? 1 / (1 + share) : 0;
  return 1 - (1 - least_lambda) * noise * (1 - 1 / std::max(1.0, missing_.mean_window(own_)));
}

void LookAheadPlan::replaced(std::uint64_t own) {
  own_ = own;
  ++generation_;
  missing_.forget();
}

bool LookAheadPlan::compares() const {
  return how_.kind == LookAhead::Kind::automatic && own_ % distance_ == 0;
}

LookAheadFigures LookAheadPlan::figures() const {
  const double own = std::max<double>(1, static_cast<double>(own_));
  return {.gradients = own_,
          .lambda = lambda_,
          .missing_estimated = expected_ / own,
          .missing_true = 0.5 * static_cast<double>(missing_.concurrent_pairs()) / own,
          .gap = measured_gaps_ > 0 ? gaps_ / static_cast<double>(measured_gaps_) : 0};
}

}  // namespace dasgd
