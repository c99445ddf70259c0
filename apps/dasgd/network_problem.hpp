// Networks on the command line. Where LibTorch is not there they are refused, in one line.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "config.hpp"
#include "dasgd/adapters/torch/network.hpp"

namespace dasgd::app {

/// Whether --model names a network: a built-in one or a TorchScript file.
bool is_network(const std::string& model);

/// The options of a network. Throws InputError for a setting that cannot be, or that is given for a
/// model that is no network.
NetworkOptions network_options(const Config& config);
void require_network_settings(const Config& config);

/// The network of a resolved config with its data.
std::unique_ptr<Objective<float>> make_network_problem(const Config& config);
/// The same with data that is there already.
std::unique_ptr<Objective<float>> make_network_problem(const NetworkOptions& options,
                                                       std::shared_ptr<const Samples> samples);

/// The bytes of model.pt; nothing if the objective is no network.
std::optional<std::string> torchscript_of(const Objective<float>& objective,
                                          std::span<const float> x);

}  // namespace dasgd::app
