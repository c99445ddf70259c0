#include "dasgd/models/network_problem.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "dasgd/core/error.hpp"
#include "dasgd/models/network_loader.hpp"
#include "dasgd/models/read_data.hpp"

namespace dasgd {

bool is_network(const std::string& model) {
  const auto& names = network_names();
  return model.ends_with(".pt") || std::find(names.begin(), names.end(), model) != names.end();
}

NetworkLoss parse_loss(const std::string& text) {
  if (text == "cross-entropy") return NetworkLoss::cross_entropy;
  if (text == "mse") return NetworkLoss::mean_squared_error;
  throw InputError("must be cross-entropy or mse");
}

NetworkDevice parse_device(const std::string& text) {
  if (text == "cpu") return NetworkDevice::cpu;
  if (text == "cuda") return NetworkDevice::cuda;
  throw InputError("must be cpu or cuda");
}

Augmentation parse_augmentation(const std::string& text) {
  constexpr std::uint32_t crop_by = 4;
  Augmentation result;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "flip") {
      result.flip = true;
    } else if (word == "crop") {
      result.crop = crop_by;
    } else {
      throw InputError("\"" + word + "\" is neither flip nor crop");
    }
  }
  return result;
}

std::string to_string(NetworkLoss loss) {
  return loss == NetworkLoss::mean_squared_error ? "mse" : "cross-entropy";
}
std::string to_string(NetworkDevice device) {
  return device == NetworkDevice::cuda ? "cuda" : "cpu";
}
std::string to_string(const Augmentation& augmentation) {
  if (augmentation.flip) return augmentation.crop > 0 ? "flip,crop" : "flip";
  return augmentation.crop > 0 ? "crop" : "";
}

void require_network_choices(const ProblemChoice& choice) {
  if (is_network(choice.model)) return;
  for (const auto& [key, given] : {std::pair("loss", choice.loss.has_value()),
                                   {"device", choice.device.has_value()},
                                   {"augment", choice.augment.has_value()}})
    if (given)
      throw InputError(fmt::format("`{}` is for networks; `model` {} is none", key, choice.model));
}

namespace {

// Of a file that a run has left: it takes raw data.
std::optional<Preprocessing> preprocessing_inside(const NetworkModule& module,
                                                  const ProblemChoice& choice) {
  if (!choice.model.ends_with(".pt")) return std::nullopt;
  const std::unique_ptr<Predictor> saved(module.open(choice.model));
  if (saved->preprocessing().shape.empty()) return std::nullopt;
  if (choice.reading.scale.value_or(Scale::none) != Scale::none)
    throw InputError("`scale` " + to_string(*choice.reading.scale) + ": " + choice.model +
                     " scales its inputs itself");
  return saved->preprocessing();
}

}  // namespace

std::unique_ptr<Network> make_network_problem(const ProblemChoice& choice, std::uint64_t seed) {
  const NetworkModule module = load_networks(choice.model);  // before data is read
  NetworkOptions options{.model = choice.model, .seed = seed};
  options.loss = choice.loss.value_or(options.loss);
  options.device = choice.device.value_or(options.device);
  const auto known = preprocessing_inside(module, choice);
  return make_network_problem(options, read_samples(choice, seed, known ? &*known : nullptr));
}

std::unique_ptr<Network> make_network_problem(const NetworkOptions& options,
                                              std::shared_ptr<const Samples> samples) {
  return std::unique_ptr<Network>(load_networks(options.model).make(options, samples));
}

std::string describe_network(const ProblemChoice& choice, const Problem& problem) {
  const auto* const objective = std::get_if<std::unique_ptr<Objective<float>>>(&problem);
  const auto* const network = objective ? dynamic_cast<const Network*>(objective->get()) : nullptr;
  return network ? fmt::format("{}: {} parameters, computed by {}", choice.model,
                               network->dimension(), network->engine())
                 : "";
}

std::optional<std::string> torchscript_of(const Objective<float>& objective,
                                          std::span<const float> x) {
  const auto* const network = dynamic_cast<const Network*>(&objective);
  return network ? std::optional(network->torchscript(x)) : std::nullopt;
}

std::unique_ptr<Predictor> open_network(const std::string& path) {
  return std::unique_ptr<Predictor>(load_networks(path).open(path));
}

}  // namespace dasgd
