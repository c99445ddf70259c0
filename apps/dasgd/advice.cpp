#include "advice.hpp"

#include <fmt/format.h>

namespace dasgd::app {

template <typename Real>
std::optional<Advice> settle_step_size(Config& config, const Objective<Real>& objective,
                                       const std::stop_token& stop, const VirtualWorld* world) {
  if (!config.lr_auto) {
    if (!config.L) config.L = objective.smoothness();
    return std::nullopt;
  }
  AdviceRequest request{.options = train_options(config)};
  request.options.stop = stop;
  if (world) request.world = *world;
  Advice advice = advise<Real>(objective, request);
  config.lr = advice.recommended_eta;
  if (!config.L) config.L = advice.constants.L.value;
  return advice;
}

template std::optional<Advice> settle_step_size(Config&, const Objective<float>&,
                                                const std::stop_token&, const VirtualWorld*);
template std::optional<Advice> settle_step_size(Config&, const Objective<double>&,
                                                const std::stop_token&, const VirtualWorld*);

std::string describe(const Advice& advice) {
  return fmt::format("lr auto: {:.6g}, {}; grounds in advice.json", advice.recommended_eta,
                     advice.grounds);
}

}  // namespace dasgd::app
