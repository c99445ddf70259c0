#include "network_problem.hpp"

#include <cstdio>
#include <fmt/format.h>

#include "network_loader.hpp"
#include "samples.hpp"

namespace dasgd::app {

std::unique_ptr<Objective<float>> make_network_problem(const Config& config) {
  auto* const make_network = load_networks(config.model);
  std::unique_ptr<Network> network(make_network(network_options(config), read_samples(config)));
  if (!config.quiet)
    fmt::print(stderr, "{}: {} parameters, computed by {}\n", config.model, network->dimension(),
               network->engine());
  return network;
}

std::unique_ptr<Objective<float>> make_network_problem(const NetworkOptions& options,
                                                       std::shared_ptr<const Samples> samples) {
  return std::unique_ptr<Network>(load_networks(options.model)(options, samples));
}

std::optional<std::string> torchscript_of(const Objective<float>& objective,
                                          std::span<const float> x) {
  const auto* const network = dynamic_cast<const Network*>(&objective);
  return network ? std::optional(network->torchscript(x)) : std::nullopt;
}

}  // namespace dasgd::app
