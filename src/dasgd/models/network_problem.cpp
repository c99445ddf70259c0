#include "dasgd/models/network_problem.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <string_view>

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
  if (text == "huber") return NetworkLoss::huber;
  throw InputError("must be cross-entropy, mse or huber");
}

NetworkDevice parse_device(const std::string& text) {
  if (text == "cpu") return NetworkDevice::cpu;
  if (text == "cuda") return NetworkDevice::cuda;
  throw InputError("must be cpu or cuda");
}

NetworkPrecision parse_precision(const std::string& text) {
  if (text == "fp32") return NetworkPrecision::fp32;
  if (text == "tf32") return NetworkPrecision::tf32;
  if (text == "bf16") return NetworkPrecision::bf16;
  throw InputError("must be fp32, tf32 or bf16");
}

namespace {

// Shapes that have names are GPT-2's, with its table of tokens.
const std::vector<std::pair<std::string, GptShape>>& named_gpts() {
  static const std::vector<std::pair<std::string, GptShape>> all{{"small", {768, 12, 12, 50257}},
                                                                 {"medium", {1024, 24, 16, 50257}}};
  return all;
}

bool same_shape(const GptShape& a, const GptShape& b) {
  return a.width == b.width && a.depth == b.depth && a.heads == b.heads && a.tokens == b.tokens;
}

}  // namespace

GptShape parse_gpt(const std::string& text) {
  for (const auto& [name, shape] : named_gpts())
    if (text == name) return shape;
  GptShape shape;
  std::istringstream from(text);
  char first = 0, second = 0;
  if (!(from >> shape.width >> first >> shape.depth >> second >> shape.heads) || first != ':' ||
      second != ':' || !from.eof() || text.find_first_not_of("0123456789:") != text.npos)
    throw InputError("must be small, medium or WIDTH:DEPTH:HEADS");
  if (shape.width == 0 || shape.depth == 0 || shape.heads == 0 || shape.width % shape.heads != 0)
    throw InputError("needs a width that is a multiple of the number of heads, and one layer");
  return shape;
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
  if (loss == NetworkLoss::huber) return "huber";
  return loss == NetworkLoss::mean_squared_error ? "mse" : "cross-entropy";
}
std::string to_string(NetworkDevice device) {
  return device == NetworkDevice::cuda ? "cuda" : "cpu";
}
std::string to_string(NetworkPrecision precision) {
  if (precision == NetworkPrecision::fp32) return "fp32";
  return precision == NetworkPrecision::tf32 ? "tf32" : "bf16";
}
std::string to_string(const GptShape& shape) {
  for (const auto& [name, known] : named_gpts())
    if (same_shape(shape, known)) return name;
  return fmt::format("{}:{}:{}", shape.width, shape.depth, shape.heads);
}
std::string to_string(const Augmentation& augmentation) {
  if (augmentation.flip) return augmentation.crop > 0 ? "flip,crop" : "flip";
  return augmentation.crop > 0 ? "crop" : "";
}

void require_network_choices(const ProblemChoice& choice) {
  const bool network = is_network(choice.model);
  const bool gpu = choice.device == NetworkDevice::cuda;
  const bool linear = choice.model == "linear";
  if (linear && choice.loss == NetworkLoss::cross_entropy)
    throw InputError(
        "`model` linear predicts numbers: use `loss` mse or huber, or `model` softmax for classes");
  for (const auto& [key, given] : {std::pair("loss", choice.loss.has_value() && !linear),
                                   {"device", choice.device.has_value()},
                                   {"precision", choice.precision.has_value()},
                                   {"channels_last", choice.channels_last.has_value()},
                                   {"no_graph", choice.no_graph.has_value()},
                                   {"gpt", choice.gpt.has_value()},
                                   {"context", choice.context.has_value()},
                                   {"augment", choice.augment.has_value()}})
    if (given && !network)
      throw InputError(fmt::format("`{}` applies to networks{} only; {} is not one", key,
                                   std::string_view(key) == "loss" ? " and `model` linear" : "",
                                   choice.model));
  for (const auto& [key, given] :
       {std::pair("precision",
                  choice.precision.value_or(NetworkPrecision::fp32) != NetworkPrecision::fp32),
        {"channels_last", choice.channels_last.value_or(false)},
        {"no_graph", choice.no_graph.value_or(false)}})
    if (given && !gpu) throw InputError(fmt::format("`{}` needs `device` cuda", key));
  if (choice.gpt && choice.model != "gpt")
    throw InputError(fmt::format("`gpt` is the shape of `model` gpt, not of {}", choice.model));
}

namespace {

// What a file does to raw numbers may be said again, but not changed.
void require_as_saved(const ProblemChoice& choice, const Preprocessing& saved) {
  const DataChoice& asked = choice.reading;
  const auto refuse = [&](const char* key, const std::string& given, const std::string& has) {
    throw InputError(
        fmt::format("`{0}` {1}: {2} prepares its inputs itself, with `{0}` {3}; "
                    "remove `{0}`",
                    key, given, choice.model, has));
  };
  if (asked.scale && *asked.scale != saved.scale)
    refuse("scale", to_string(*asked.scale), to_string(saved.scale));
  if (asked.missing && *asked.missing != saved.missing)
    refuse("missing", to_string(*asked.missing), to_string(saved.missing));
}

// Of a file that a run has left: it takes raw data.
std::optional<Preprocessing> preprocessing_inside(const NetworkModule& module,
                                                  const ProblemChoice& choice) {
  if (!choice.model.ends_with(".pt")) return std::nullopt;
  const std::unique_ptr<Predictor> saved(module.open(choice.model));
  if (saved->preprocessing().shape.empty()) return std::nullopt;
  require_as_saved(choice, saved->preprocessing());
  return saved->preprocessing();
}

}  // namespace

NetworkOptions network_options(const ProblemChoice& choice, std::uint64_t seed) {
  NetworkOptions options{.model = choice.model, .seed = seed};
  options.loss = choice.loss.value_or(options.loss);
  options.device = choice.device.value_or(options.device);
  options.precision = choice.precision.value_or(options.precision);
  options.channels_last = choice.channels_last.value_or(false);
  options.graph = !choice.no_graph.value_or(false);
  options.gpt = choice.gpt.value_or(options.gpt);
  return options;
}

std::unique_ptr<Network> make_network_problem(const ProblemChoice& choice, std::uint64_t seed) {
  const NetworkModule module = load_networks(choice.model);  // before data is read
  const auto known = preprocessing_inside(module, choice);
  return make_network_problem(network_options(choice, seed),
                              read_samples(choice, seed, known ? &*known : nullptr));
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
