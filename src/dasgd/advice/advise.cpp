#include "dasgd/advice/advise.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/plan/budget.hpp"
#include "dasgd/theory/step_size.hpp"
#include "dasgd/theory/tuned_step.hpp"

namespace dasgd {
namespace {

/// A later run may be staler than its pilot.
constexpr std::uint64_t margin = 2;

/// Twice the pilot's W, and no less than if two gradients of each other worker were always on their
/// way: a pilot of very short gradients may by chance see no staleness at all.
std::uint64_t expected_W(std::uint64_t pilot, std::size_t workers) {
  return std::max<std::uint64_t>(margin * pilot, 4 * (workers - 1));
}

const char* const proved = "proved";
const char* const published = "published but false in general";
const char* const heuristic = "heuristic";

theory::RateBound a_priori_rate(const ProblemConstants& c, const StalenessSummary& s) {
  return {2 * c.r0.value, 1.5 * c.L.value * c.sigma2.value, 0,
          1 / theory::a_priori_eta(c.L.value, static_cast<double>(s.S_max))};
}

theory::RateBound mean_square_rate(const ProblemConstants& c, const StalenessSummary& s) {
  const double L2 = c.L.value * c.L.value;
  const bool noisy = c.sigma2.value > 0;
  return {2 * c.r0.value, c.L.value * c.sigma2.value,
          (noisy ? 2 : 1) * L2 * c.Q.value * c.Q.value * s.S_mean_square +
              2 * L2 * c.sigma2.value * s.S_avg,
          c.L.value};
}

void add_limits(Advice& advice) {
  const ProblemConstants& c = advice.constants;
  const StalenessSummary& s = advice.staleness.figures;
  const double L = c.L.value;
  const auto add = [&](const char* name, double eta, const char* status, std::string grounds) {
    advice.limits.push_back({name, eta, status, std::move(grounds)});
  };
  const std::string noise = c.sigma2.value > 0 ? "for gradients without noise, " : "";
  if (s.W)
    add("certificate", theory::certified_eta(L, *s.W), proved,
        fmt::format("{}if the run's W stays at or below {}", noise, *s.W));
  add("a_priori", theory::a_priori_eta(L, static_cast<double>(s.S_max)), proved,
      fmt::format("if S_max stays at or below {}", s.S_max));
  if (advice.horizon) {
    if (c.sigma2.value > 0)
      add("a_priori_tuned", theory::tuned_eta(a_priori_rate(c, s), *advice.horizon), proved,
          fmt::format("best of the a priori form for {:.0f} gradients", *advice.horizon));
    add("mean_square_tuned", theory::tuned_eta(mean_square_rate(c, s), *advice.horizon), proved,
        fmt::format("gradients bounded by Q, best for {:.0f} gradients", *advice.horizon));
  }
  add("published_1", theory::published_eta_1(L, s.S_avg), published, "1 / (4 L S_avg), Theorem 1");
  add("published_2", theory::published_eta_2(L, s.S_hat_avg, static_cast<double>(s.S_hat_max)),
      published, "1 / (4 L sqrt(S_hat_avg S_hat_max)), Theorem 1");
  add("heuristic", 1 / (L * (1 + s.S_avg)), heuristic, "1 / (L (1 + S_avg))");
  std::erase_if(advice.limits, [](const Limit& limit) { return !std::isfinite(limit.eta); });
}

void add_promises(Advice& advice) {
  const ProblemConstants& c = advice.constants;
  const StalenessSummary& s = advice.staleness.figures;
  const auto add = [&](const char* name, double eta, double iterations) {
    advice.promises.push_back(
        {name, eta, iterations, iterations / advice.staleness.gradients_per_second});
  };
  if (c.sigma2.value == 0 && s.W)
    add("certificate", advice.recommended_eta,
        2 * c.r0.value / (advice.recommended_eta * advice.accuracy));
  const auto rate = a_priori_rate(c, s);
  const double iterations = std::max(1.0, theory::iterations_for(rate, advice.accuracy));
  add("a_priori", theory::tuned_eta(rate, iterations), iterations);
}

}  // namespace

void recommend(Advice& advice) {
  const ProblemConstants& c = advice.constants;
  const StalenessSummary& s = advice.staleness.figures;
  const double L = c.L.value;
  advice.limits.clear();
  advice.promises.clear();
  add_limits(advice);
  if (s.W) {
    const std::uint64_t W = expected_W(*s.W, advice.workers);
    advice.recommended_eta = theory::certified_eta(L, W);
    advice.grounds = fmt::format("certified for W up to {}, where the pilot had {}", W, *s.W);
  } else {
    advice.recommended_eta = theory::a_priori_eta(L, static_cast<double>(margin * s.S_max));
    advice.grounds = fmt::format("a priori for S_max up to {}, where the pilot had {}",
                                 margin * s.S_max, s.S_max);
  }
  if (c.sigma2.value > 0 && advice.horizon) {
    const double tuned = std::sqrt(2 * c.r0.value / (1.5 * L * c.sigma2.value * *advice.horizon));
    if (tuned < advice.recommended_eta) {
      advice.recommended_eta = tuned;
      advice.grounds +=
          fmt::format(", lowered to the noise over {:.0f} gradients", *advice.horizon);
    }
  }
  advice.grounds += fmt::format("; L {:.4g} ({})", L, c.L.closed_form ? "closed form" : "estimate");
  add_promises(advice);
}

template <typename Real>
Advice advise(const Objective<Real>& objective, const AdviceRequest& request) {
  const TrainOptions& options = request.options;
  std::vector<std::vector<Real>> trajectory{objective.start()};
  const Smoothness at_start = measure_smoothness<Real>(objective, trajectory, options.seed);
  const double eta = theory::a_priori_eta(at_start.value, 2 * static_cast<double>(options.workers));
  Advice advice;
  if (request.staleness) {
    advice.staleness = *request.staleness;
    walk<Real>(objective, options, eta, trajectory);
  } else if (request.world) {
    advice.staleness =
        pilot_in_virtual_time<Real>(objective, options, *request.world, request.compute_is_given);
    walk<Real>(objective, options, eta, trajectory);
  } else {
    advice.staleness = pilot_on_threads<Real>(objective, options, eta, trajectory);
  }
  advice.constants = measure_constants<Real>(
      objective, trajectory,
      {resolved_batch(options, objective.samples()), options.seed, request.least_loss,
       at_start.closed_form ? std::optional(at_start) : std::nullopt});
  advice.workers = options.workers;
  advice.horizon = planned_gradients(options, objective.samples());
  advice.accuracy =
      request.accuracy.value_or(0.01 * advice.constants.Q.value * advice.constants.Q.value);
  recommend(advice);
  return advice;
}

template Advice advise(const Objective<float>&, const AdviceRequest&);
template Advice advise(const Objective<double>&, const AdviceRequest&);

}  // namespace dasgd
