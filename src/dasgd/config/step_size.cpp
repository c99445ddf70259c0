#include "dasgd/config/step_size.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

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

}  // namespace

template <typename Real>
std::optional<Advice> settle_step_size(Config& config, const Objective<Real>& objective,
                                       const std::stop_token& stop, const VirtualWorld* world) {
  auto& L = config.run.smoothness;
  if (config.step == StepChoice::given) {
    if (!L) L = objective.known().smoothness;
    return std::nullopt;
  }
  AdviceRequest request{.options = config.run};
  request.options.stop = stop;
  if (world) request.world = *world;
  place_ranks(config, request);
  const bool proved = config.step == StepChoice::proved;
  request.try_steps = !proved;
  Advice advice = advise<Real>(objective, request);
  config.run.eta = proved ? advice.recommended_eta : advice.practical.eta;
  config.lr = config.run.eta;
  if (!L) L = advice.constants.L.value;
  return advice;
}

template std::optional<Advice> settle_step_size(Config&, const Objective<float>&,
                                                const std::stop_token&, const VirtualWorld*);
template std::optional<Advice> settle_step_size(Config&, const Objective<double>&,
                                                const std::stop_token&, const VirtualWorld*);

std::string describe(const Advice& advice, const Config& config) {
  if (config.step == StepChoice::proved)
    return fmt::format("lr proved: {:.6g}, {}; more in advice.json", advice.recommended_eta,
                       advice.grounds);
  return fmt::format("lr auto: {:.6g}, {}; more in advice.json", advice.practical.eta,
                     advice.practical.how);
}

}  // namespace dasgd::config
