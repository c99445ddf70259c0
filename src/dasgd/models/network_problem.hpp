// Networks by name. Where LibTorch is not there they are refused, in one line.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dasgd/models/problem.hpp"

namespace dasgd {

/// Whether a model is a network: a built-in one or a TorchScript file.
bool is_network(const std::string& model);

/// Throw InputError for words that mean none of them.
NetworkLoss parse_loss(const std::string& text);
NetworkDevice parse_device(const std::string& text);
NetworkPrecision parse_precision(const std::string& text);
GptShape parse_gpt(const std::string& text);
Augmentation parse_augmentation(const std::string& text);
std::string to_string(NetworkLoss loss);
std::string to_string(NetworkDevice device);
std::string to_string(NetworkPrecision precision);
std::string to_string(const GptShape& shape);
std::string to_string(const Augmentation& augmentation);

/// Throws InputError for a choice that only networks have, made for another model.
void require_network_choices(const ProblemChoice& choice);

/// What a choice says about its network.
NetworkOptions network_options(const ProblemChoice& choice, std::uint64_t seed);
/// The network of a choice with its data.
std::unique_ptr<Network> make_network_problem(const ProblemChoice& choice, std::uint64_t seed);
/// The same with data that is there already.
std::unique_ptr<Network> make_network_problem(const NetworkOptions& options,
                                              std::shared_ptr<const Samples> samples);

/// A line on what computes: "cnn: 122570 parameters, computed by ..."; empty for other problems.
std::string describe_network(const ProblemChoice& choice, const Problem& problem);

/// The bytes of model.pt; nothing if the objective is not a network.
std::optional<std::string> torchscript_of(const Objective<float>& objective,
                                          std::span<const float> x);

/// A network from its file, for prediction. Throws InputError.
std::unique_ptr<Predictor> open_network(const std::string& path);

}  // namespace dasgd
