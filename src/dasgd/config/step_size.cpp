#include "dasgd/config/step_size.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

#include "dasgd/run/budget.hpp"

namespace dasgd::config {
namespace {

// A pilot shows how workers on other machines will do only as far as this one has cores for them.
// Beyond that it is predicted.
void place_ranks(const Config& config, AdviceRequest& request) {
  const bool fit = config.run.workers <= std::max(1u, std::thread::hardware_concurrency());
  if (config.ranks.expected == 0 || fit) return;
  request.world.emplace();
  request.compute_is_given = config.run.compute.count() > 0;
  if (request.compute_is_given)
    request.world->compute = TimeModel::constant(config.run.compute.count());
}

// Staleness grows with the members: the step is found for the most that are there at once.
void place_members(const Config& config, AdviceRequest& request) {
  const ElasticSettings& elastic = config.elastic;
  const std::size_t here = config.run.workers;
  const bool real = !elastic.listen.empty();
  const std::vector<Nanoseconds> start =
      request.world ? request.world->start : std::vector<Nanoseconds>();
  const std::size_t members = real ? elastic.expected.value_or(here)
                                   : elastic::most_at_once(elastic.membership_plan, here, start);
  const bool one_time_for_all = !request.world || request.world->compute.items() == 0;
  if (members == here || !one_time_for_all) return;
  request.options.workers = members;
  if (!request.world) {
    request.world.emplace();
    request.compute_is_given = config.run.compute.count() > 0;
    if (request.compute_is_given)
      request.world->compute = TimeModel::constant(config.run.compute.count());
  }
  request.world->start.clear();
  request.world->chaos = {};
  request.options.time_factors.clear();
}

bool members_change(const Config& config) {
  return !config.elastic.listen.empty() || config.elastic.membership_plan.any();
}

// Of members that come and go nobody knows how many gradients they will make, unless the run has a
// budget for all of them: a schedule would end before the run, or never.
bool end_is_known(const Config& config, std::size_t samples) {
  const Budget budget = shared_budget(config.run, samples);
  return !members_change(config) || budget.gradients || budget.samples;
}

/// What a run with the proved step is held against at its end.
std::vector<Assumption> assumptions_of(const Advice& advice) {
  std::vector<Assumption> assumptions;
  for (const AtMost& a : advice.assumes) assumptions.push_back({a.name, a.value});
  if (advice.constants.sigma2.value > 0) {
    assumptions.push_back({"causal", std::nullopt});
    assumptions.push_back({"draws", std::nullopt});
    assumptions.push_back({"timing", std::nullopt});
  } else {
    assumptions.push_back({"drained", std::nullopt});
  }
  assumptions.push_back({"step", std::nullopt});
  assumptions.push_back({"look_ahead", std::nullopt});
  if (advice.elastic) assumptions.push_back({"workers", std::nullopt});
  return assumptions;
}

}  // namespace

bool is_elastic(const Config& config) { return members_change(config) || config.elastic.simulated; }

template <typename Real>
std::optional<Advice> settle_step_size(Config& config, const Objective<Real>& objective,
                                       const std::stop_token& stop, const VirtualWorld* world,
                                       const std::function<void(const std::string&)>& report) {
  auto& L = config.run.smoothness;
  if (config.step == StepChoice::given) {
    if (!L) L = objective.known().smoothness;
    return std::nullopt;
  }
  const bool proved = config.step == StepChoice::proved;
  AdviceRequest request{.options = config.run};
  request.options.stop = stop;
  if (world) request.world = *world;
  place_ranks(config, request);
  place_members(config, request);
  request.elastic = is_elastic(config);
  request.try_steps = !proved;
  request.report = report;
  request.keep_schedule = config.schedule_given || !end_is_known(config, objective.samples());
  Advice advice = advise<Real>(objective, request);
  if (stop.stop_requested()) return std::nullopt;
  config.run.eta = proved ? advice.recommended_eta : advice.practical.eta;
  config.lr = config.run.eta;
  if (!proved) config.run.rule.schedule = advice.practical.schedule;
  if (proved) config.run.assumptions = assumptions_of(advice);
  if (!L) L = advice.constants.L.value;
  return advice;
}

template std::optional<Advice> settle_step_size(Config&, const Objective<float>&,
                                                const std::stop_token&, const VirtualWorld*,
                                                const std::function<void(const std::string&)>&);
template std::optional<Advice> settle_step_size(Config&, const Objective<double>&,
                                                const std::stop_token&, const VirtualWorld*,
                                                const std::function<void(const std::string&)>&);

std::string describe(const Advice& advice, const Config& config) {
  const bool others_may_join = !config.elastic.listen.empty() && !config.elastic.expected;
  const char* const alone =
      others_may_join ? "; this step is for one member; `elastic.expected` N finds one for N" : "";
  if (config.step == StepChoice::proved)
    return fmt::format("lr proved: {:.4g} ({}); more in advice.json{}", advice.recommended_eta,
                       advice.grounds, alone);
  const std::string proved =
      advice.plain ? fmt::format("; lr proved would be {:.4g}", advice.recommended_eta) : "";
  return fmt::format("lr auto: {:.4g} ({}){}; more in advice.json{}", advice.practical.eta,
                     advice.practical.how, proved, alone);
}

}  // namespace dasgd::config
