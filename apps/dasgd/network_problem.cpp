#include "network_problem.hpp"

#include <cstdio>
#include <fmt/format.h>

#include "samples.hpp"

namespace dasgd::app {

std::unique_ptr<Objective<float>> make_network_problem(const Config& config) {
  auto network = make_network(network_options(config), read_samples(config));
  if (!config.quiet)
    fmt::print(stderr, "{}: {} parameters, computed by {}\n", config.model, network->dimension(),
               network->engine());
  return network;
}

std::unique_ptr<Objective<float>> make_network_problem(const NetworkOptions& options,
                                                       std::shared_ptr<const Samples> samples) {
  return make_network(options, std::move(samples));
}

std::optional<std::string> torchscript_of(const Objective<float>& objective,
                                          std::span<const float> x) {
  const auto* const network = dynamic_cast<const Network*>(&objective);
  return network ? std::optional(network->torchscript(x)) : std::nullopt;
}

}  // namespace dasgd::app
