#include <algorithm>

#include "dasgd/core/error.hpp"
#include "network_problem.hpp"

namespace dasgd::app {

bool is_network(const std::string& model) {
  const auto& names = network_names();
  return model.ends_with(".pt") || std::find(names.begin(), names.end(), model) != names.end();
}

NetworkOptions network_options(const Config& config) {
  NetworkOptions options{.model = config.model, .seed = config.seed};
  if (config.loss == "mse") {
    options.loss = NetworkLoss::mean_squared_error;
  } else if (!config.loss.empty() && config.loss != "cross-entropy") {
    throw InputError("--loss " + config.loss + ": must be cross-entropy or mse");
  }
  if (config.device == "cuda") {
    options.device = NetworkDevice::cuda;
  } else if (!config.device.empty() && config.device != "cpu") {
    throw InputError("--device " + config.device + ": must be cpu or cuda");
  }
  return options;
}

void require_network_settings(const Config& config) {
  network_options(config);
  if (is_network(config.model)) return;
  for (const auto& [option, value] : {std::pair("--loss", config.loss),
                                      {"--device", config.device},
                                      {"--augment", config.augment}})
    if (!value.empty())
      throw InputError(std::string(option) + " is for networks; --model " + config.model +
                       " is none");
}

}  // namespace dasgd::app
