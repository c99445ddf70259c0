#include "dasgd/advice/advise.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/advice/subset_objective.hpp"
#include "dasgd/run/budget.hpp"
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
const char* const for_known_L = "proved if L is as estimated";
const char* const without_noise = "proved only without noise";
const char* const causal_only = "proved only for causal delivery";
const char* const independent_only = "proved for independent draws";
const char* const fixed_workers_only = "proved only for a fixed set of workers";
const char* const plain_only = "proved only for plain SGD";
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

theory::RateBound noise_certificate_rate(const ProblemConstants& c, const StalenessSummary& s,
                                         std::uint64_t W, double S_avg_margin) {
  const double L2 = c.L.value * c.L.value;
  return {2 * c.r0.value, c.L.value * c.sigma2.value,
          2 * L2 * c.sigma2.value * s.S_avg * S_avg_margin,
          1 / theory::noise_certified_eta(c.L.value, W)};
}

std::string in_words(const AtMost& a) {
  const std::string name = a.name == "sigma2" ? "sigma^2" : a.name;
  return fmt::format("{} is at most {:.4g}", name, a.value);
}

// "if W is at most 12 and sigma^2 is at most 0.5, for causal delivery". With noise that includes
// that no timing depends on the noise.
std::string conditions(const std::vector<AtMost>& assumes, bool causal) {
  std::vector<std::string> parts;
  for (const AtMost& a : assumes) parts.push_back(in_words(a));
  if (parts.empty()) return causal ? "for causal delivery" : "";
  std::string text = "if " + parts.front();
  for (std::size_t k = 1; k < parts.size(); ++k)
    text += (k + 1 == parts.size() ? " and " : ", ") + parts[k];
  return causal ? text + ", for causal delivery" : text;
}

// Of shards two conditions are missing: independent draws, and this one.
std::string other_distributions(const Advice& advice) {
  const bool apply = advice.constants.sigma2.value > 0 && !advice.one_distribution;
  return apply ? "; workers with shards draw from different distributions (Assumption 2 is missing)"
               : "";
}

/// Collects limits with what each rests on.
class Limits {
 public:
  explicit Limits(Advice& advice)
      : advice_(advice),
        noise_(advice.constants.sigma2.value > 0),
        causal_(advice.staleness.noncausal == 0) {}

  bool noise() const { return noise_; }
  AtMost L() const { return {"L", advice_.constants.L.value}; }
  AtMost sigma2() const { return {"sigma2", advice_.constants.sigma2.value}; }
  AtMost Q() const { return {"Q", advice_.constants.Q.value}; }
  AtMost r0() const { return {"r0", advice_.constants.r0.value}; }

  /// A statement that is proved with noise as well, where delivery is causal.
  void add_proved(const char* name, double eta, const std::string& what,
                  std::vector<AtMost> assumes) {
    if (!advice_.constants.L.closed_form) assumes.push_back(L());
    const char* const status = !advice_.plain                     ? plain_only
                               : noise_ && !causal_               ? causal_only
                               : noise_ && !advice_.independent   ? independent_only
                               : advice_.elastic                  ? fixed_workers_only
                               : !advice_.constants.L.closed_form ? for_known_L
                                                                  : proved;
    add(name, eta, status, what + conditions(assumes, noise_) + other_distributions(advice_),
        assumes);
  }
  void add(const char* name, double eta, const char* status, std::string grounds,
           std::vector<AtMost> assumes = {}) {
    if (!std::isfinite(eta)) return;
    advice_.limits.push_back({name, eta, status, std::move(grounds), std::move(assumes)});
  }

 private:
  Advice& advice_;
  const bool noise_, causal_;
};

void add_tuned_limits(const Advice& advice, Limits& limits) {
  const ProblemConstants& c = advice.constants;
  const StalenessSummary& s = advice.staleness.figures;
  const double N = *advice.horizon;
  const std::string best = fmt::format("best for {:.0f} gradients, ", N);
  const AtMost S_avg{"S_avg", s.S_avg}, S_ms{"S_mean_square", s.S_mean_square};
  if (limits.noise()) {
    if (s.W)
      limits.add_proved("noise_certificate_tuned",
                        theory::tuned_eta(noise_certificate_rate(c, s, *s.W, 1), N), best,
                        {{"W", static_cast<double>(*s.W)}, S_avg, limits.sigma2(), limits.r0()});
    limits.add_proved("a_priori_tuned", theory::tuned_eta(a_priori_rate(c, s), N), best,
                      {{"S_max", static_cast<double>(s.S_max)}, limits.sigma2(), limits.r0()});
    limits.add_proved("mean_square_tuned", theory::tuned_eta(mean_square_rate(c, s), N), best,
                      {limits.Q(), S_ms, S_avg, limits.sigma2(), limits.r0()});
  } else {
    limits.add_proved("mean_square_tuned", theory::tuned_eta(mean_square_rate(c, s), N), best,
                      {limits.Q(), S_ms, limits.r0()});
  }
}

void add_limits(Advice& advice) {
  const StalenessSummary& s = advice.staleness.figures;
  const double L = advice.constants.L.value;
  Limits limits(advice);
  if (s.W) {
    const AtMost W{"W", static_cast<double>(*s.W)};
    if (limits.noise())
      limits.add("certificate", theory::certified_eta(L, *s.W), without_noise,
                 conditions({W}, false), {W});
    else
      limits.add_proved("certificate", theory::certified_eta(L, *s.W), "", {W});
    if (limits.noise())
      limits.add_proved("noise_certificate", theory::noise_certified_eta(L, *s.W), "", {W});
  }
  limits.add_proved("a_priori", theory::a_priori_eta(L, static_cast<double>(s.S_max)), "",
                    {{"S_max", static_cast<double>(s.S_max)}});
  if (advice.horizon) add_tuned_limits(advice, limits);
  limits.add("published_1", theory::published_eta_1(L, s.S_avg), published,
             "1 / (4 L S_avg), Theorem 1");
  if (s.S_hat_known)
    limits.add("published_2",
               theory::published_eta_2(L, s.S_hat_avg, static_cast<double>(s.S_hat_max)), published,
               "1 / (4 L sqrt(S_hat_avg S_hat_max)), Theorem 1");
  limits.add("heuristic", 1 / (L * (1 + s.S_avg)), heuristic, "1 / (L (1 + S_avg))");
}

// The step of a certificate, which needs no bound of gradients, with a margin for staleness. With
// noise the certificate has its own form, and a known number of gradients its best step.
void choose_proved(Advice& advice) {
  const ProblemConstants& c = advice.constants;
  const StalenessSummary& s = advice.staleness.figures;
  const double L = c.L.value;
  const bool noise = c.sigma2.value > 0;
  theory::RateBound rate;
  std::string name;
  if (s.W) {
    const std::uint64_t W = expected_W(*s.W, advice.workers);
    name = noise ? "certificate with noise" : "certificate";
    advice.assumes = {{"W", static_cast<double>(W)}};
    rate = noise_certificate_rate(c, s, W, margin);
    if (!noise) rate.d = 1 / theory::certified_eta(L, W);
  } else {
    name = "a priori";
    StalenessSummary staler = s;
    staler.S_max *= margin;
    advice.assumes = {{"S_max", static_cast<double>(staler.S_max)}};
    rate = a_priori_rate(c, staler);
  }
  advice.recommended_eta = 1 / rate.d;
  if (noise && advice.horizon) {
    const double tuned = theory::tuned_eta(rate, *advice.horizon);
    name += fmt::format(", best for {:.0f} gradients", *advice.horizon);
    if (s.W) advice.assumes.push_back({"S_avg", margin * s.S_avg});
    advice.assumes.push_back({"sigma2", c.sigma2.value});
    advice.assumes.push_back({"r0", c.r0.value});
    advice.recommended_eta = tuned;
  }
  if (!c.L.closed_form) advice.assumes.push_back({"L", L});
  advice.recommended_status = c.L.closed_form ? proved : for_known_L;
  const std::string pilot = s.W ? fmt::format("where the pilot had W {}", *s.W)
                                : fmt::format("where the pilot had S_max {}", s.S_max);
  advice.grounds = fmt::format("{} by the {} {}, {}",
                               c.L.closed_form ? "proved" : "proved if L is as estimated,", name,
                               conditions(advice.assumes, noise), pilot);
  if (noise && advice.staleness.noncausal > 0) {
    advice.recommended_status = heuristic;
    advice.grounds = fmt::format(
        "heuristic: the {} needs causal delivery, and {} applications of the pilot were not causal",
        name, advice.staleness.noncausal);
  } else if (noise && advice.plain && !advice.independent) {
    advice.recommended_status = independent_only;
    advice.grounds = fmt::format(
        "proved for independent draws by the {} {}, {}: use `sampling` independent. Batches of one "
        "pass, drawn without replacement, depend on each other",
        name, conditions(advice.assumes, noise), pilot);
    advice.grounds += other_distributions(advice);
  } else if (advice.plain && advice.elastic) {
    advice.recommended_status = fixed_workers_only;
    advice.grounds = fmt::format("{} by the {} {}, {}; this run is elastic", fixed_workers_only,
                                 name, conditions(advice.assumes, noise), pilot);
  } else if (!advice.plain) {
    advice.recommended_status = heuristic;
    advice.grounds =
        fmt::format("heuristic: the {} covers only plain SGD with one fixed step", name);
  }
  advice.grounds += fmt::format("; L {:.4g} ({})", L, c.L.closed_form ? "closed form" : "estimate");
}

void add_promises(Advice& advice) {
  if (!advice.plain) return;  // nothing is known of other rules
  const ProblemConstants& c = advice.constants;
  const StalenessSummary& s = advice.staleness.figures;
  const bool noise = c.sigma2.value > 0;
  const auto add = [&](const char* name, double eta, double iterations,
                       std::vector<AtMost> assumes) {
    assumes.push_back({"r0", c.r0.value});
    if (noise) assumes.push_back({"sigma2", c.sigma2.value});
    if (!c.L.closed_form) assumes.push_back({"L", c.L.value});
    const char* const draws = noise && !advice.independent ? " and independent draws" : "";
    advice.promises.push_back({name, eta, iterations,
                               iterations / advice.staleness.gradients_per_second,
                               conditions(assumes, noise) + draws, assumes});
  };
  if (!noise && s.W)
    add("certificate", advice.recommended_eta,
        2 * c.r0.value / (advice.recommended_eta * advice.accuracy),
        {{"W", static_cast<double>(expected_W(*s.W, advice.workers))}});
  const auto rate = a_priori_rate(c, s);
  const double iterations = std::max(1.0, theory::iterations_for(rate, advice.accuracy));
  add("a_priori", theory::tuned_eta(rate, iterations), iterations,
      {{"S_max", static_cast<double>(s.S_max)}});
}

}  // namespace

void recommend(Advice& advice) {
  advice.limits.clear();
  advice.promises.clear();
  add_limits(advice);
  choose_proved(advice);
  add_promises(advice);
}

namespace {

// Seconds for each part of what comes before trials; a pilot takes another one.
constexpr double for_L_at_start = 1, for_L_later = 0.5, for_constants = 0.5;
// Where a gradient takes longer, no pilot runs.
constexpr double slow_gradient = 1;

// Rows whose gradients can be computed some times in so many seconds.
std::size_t affordable_rows(double seconds, double per_row) {
  constexpr double gradients = 6;
  constexpr std::size_t fewest = 4;
  const Effort usual;
  const double rows = seconds / gradients / std::max(1e-12, per_row);
  return rows >= static_cast<double>(usual.most_rows)
             ? usual.most_rows
             : std::max(fewest, static_cast<std::size_t>(rows));
}

}  // namespace

template <typename Real>
Advice advise(const Objective<Real>& objective, const AdviceRequest& request) {
  const TrainOptions& options = request.options;
  const Clock& clock = request.clock;
  const double began = clock();
  const auto report = [&](const char* what) {
    if (request.report) request.report(what);
  };
  report("lr auto: measuring smoothness and staleness");
  const std::size_t batch = resolved_batch(options, objective.samples());
  const double gradient = time_of_gradient(objective, batch, clock);
  const double per_row =
      gradient / static_cast<double>(std::max<std::size_t>(1, batch ? batch : objective.samples()));
  const auto effort = [&](double seconds) {
    return Effort{affordable_rows(seconds, per_row), [&, until = clock() + seconds] {
                    return options.stop.stop_requested() || clock() > until;
                  }};
  };
  std::vector<std::vector<Real>> trajectory{objective.start()};
  const Smoothness at_start = measure_smoothness<Real>(objective, trajectory, options.seed, nullptr,
                                                       effort(for_L_at_start));
  Advice advice;
  if (options.stop.stop_requested()) return advice;
  const double eta = theory::a_priori_eta(at_start.value, 2 * static_cast<double>(options.workers));
  const SubsetObjective<Real> unjudged(objective, options.seed,
                                       1);  // it is of interest where runs go
  const bool slow = gradient > slow_gradient;
  const bool here = !request.staleness && !request.world;
  const bool timed_here = !request.world || !request.compute_is_given;
  VirtualWorld world = request.world.value_or(VirtualWorld{});
  world.arrivals.reset();  // with all samples workers never idle, so gradients are staler
  if (timed_here)
    world.compute =
        TimeModel::constant(std::max<Nanoseconds>(1, static_cast<Nanoseconds>(1e9 * gradient)));
  if (here && !slow) {
    advice.staleness = pilot_on_threads<Real>(unjudged, options, eta, trajectory);
  } else if (request.staleness) {
    advice.staleness = *request.staleness;
  } else {
    advice.staleness = pilot_in_virtual_time<Real>(objective, options, world);
    if (timed_here) advice.staleness.how += ", a gradient as long as it takes here";
  }
  if (!here && !slow) walk<Real>(unjudged, options, eta, trajectory);
  if (options.stop.stop_requested()) return advice;
  const Smoothness L = measure_smoothness<Real>(objective, std::span(trajectory).subspan(1),
                                                options.seed, &at_start, effort(for_L_later));
  const bool noise = gradients_have_noise(options, objective.samples());
  advice.constants = measure_constants<Real>(
      objective, trajectory,
      {noise ? batch : 0, options.seed, request.least_loss, L, effort(for_constants)});
  if (options.stop.stop_requested()) return advice;
  advice.workers = options.workers;
  advice.plain = options.rule.is_plain();
  advice.independent = options.sampling == Sampling::independent && !options.make_samples;
  advice.one_distribution = !options.sampling.deals();
  advice.elastic = request.elastic;
  advice.horizon = planned_gradients(options, objective.samples());
  advice.accuracy =
      request.accuracy.value_or(0.01 * advice.constants.Q.value * advice.constants.Q.value);
  recommend(advice);
  advice.practical = {
      advice.recommended_eta,
      request.try_steps
          ? fmt::format("the recommended step: the run is too short, or a gradient of {:.2g} s too "
                        "slow, for trials",
                        gradient)
          : "the recommended step: no trials were asked for",
      options.rule.schedule,
      {}};
  if (request.try_steps) {
    const double rate = advice.staleness.gradients_per_second;
    const double run = advice.horizon && rate > 0 ? *advice.horizon / rate : 0;
    const double left = std::max(1.0, seconds_for_trials(run) - (clock() - began));
    if (auto found =
            try_steps<Real>(objective, options, request.world ? std::optional(world) : std::nullopt,
                            advice.constants.L.value, advice.recommended_eta, advice.horizon,
                            request.keep_schedule, {left, request.report, clock, gradient}))
      advice.practical = std::move(*found);
  }
  return advice;
}

template Advice advise(const Objective<float>&, const AdviceRequest&);
template Advice advise(const Objective<double>&, const AdviceRequest&);

}  // namespace dasgd
