#include "dasgd/models/problem.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <utility>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/models/read_data.hpp"
#include "dasgd/models/stream.hpp"
#include "dasgd/problems/linear.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/problems/softmax.hpp"

namespace dasgd {
namespace {

std::string file_for(const std::string& model, const std::string& data, const char* what) {
  const std::string path = locate_data(data);
  if (std::filesystem::is_directory(path))
    throw InputError(path + ": is a directory; the model " + model + " needs " + what);
  return path;
}

std::unique_ptr<Objective<double>> make_quadratic(const std::string& data, std::uint64_t seed) {
  if (data.empty()) return std::make_unique<Quadratic>(Quadratic::random(seed));
  const auto path = file_for("quadratic", data, "a JSON instance {\"A\", \"b\"}");
  return std::make_unique<Quadratic>(read_linear_system(path));
}

std::unique_ptr<Objective<double>> make_logistic(const ProblemChoice& choice, std::uint64_t seed) {
  if (choice.data.empty()) return std::make_unique<Logistic>(Logistic::random(seed));
  return std::make_unique<Logistic>(read_signed(choice, seed));
}

std::unique_ptr<Objective<double>> make_linear(ProblemChoice choice, std::uint64_t seed) {
  if (choice.data.empty())
    throw InputError("`model` linear needs `data`; a table with a number as its label");
  if (!choice.loss) choice.loss = NetworkLoss::mean_squared_error;
  auto samples = read_prepared(choice, seed);
  if (samples->format().classes > 0)
    throw InputError(
        choice.data +
        ": has classes as labels; `model` linear predicts numbers, `model` softmax classes");
  return std::make_unique<Linear>(std::move(samples), choice.loss == NetworkLoss::huber);
}

void require_samples(const ProblemChoice& choice) {
  const DataChoice& r = choice.reading;
  const bool drawn = choice.model == "logistic" && choice.data.empty();
  if (choice.model != "quadratic" && !drawn) return;
  const std::pair<const char*, bool> given[] = {
      {"validation", !r.validation.empty()},
      {"test", !r.test.empty()},
      {"label", !r.label.empty()},
      {"scale", r.scale.has_value()},
      {"resize", r.resize.has_value()},
      {"missing", r.missing.value_or(Missing::error) != Missing::error},
      {"class_weights", !r.class_weights.empty()}};
  for (const auto& [key, is_given] : given)
    if (is_given)
      throw InputError(std::string("`") + key + "` is for data with rows or images; `model` " +
                       choice.model + (drawn ? " without `data`" : "") + " has none");
}

// Arrays are rows or images.
void require_rows(const ProblemChoice& choice) {
  const bool text = choice.model == "char-transformer" || choice.model == "gpt";
  const bool takes_none = choice.model == "quadratic" || text;
  if (takes_none && is_in_memory(choice))
    throw InputError("`model` " + choice.model + " takes no arrays; it reads a " +
                     (text ? "text" : "JSON instance"));
}

}  // namespace

void require_known_model(const std::string& name) {
  if (name == "python")
    throw InputError(
        "python: this was an objective or a loop of a Python program; continue it there");
  std::vector<std::string> names{"quadratic", "logistic", "softmax", "linear"};
  names.insert(names.end(), network_names().begin(), network_names().end());
  if (!is_network(name) && std::find(names.begin(), names.end(), name) == names.end())
    throw InputError("unknown model \"" + name + "\"" + suggestion(name, names));
  if (name.ends_with(".pt") && !std::filesystem::is_regular_file(name))
    throw InputError("is not a file; a model is a name or a TorchScript file");
}

Problem make_problem(const ProblemChoice& choice, std::uint64_t seed) {
  if (is_stream(choice.data))
    throw InputError("`data` " + choice.data + ": streams are for the command dasgd train");
  require_samples(choice);
  require_rows(choice);
  if (choice.model == "quadratic") return make_quadratic(choice.data, seed);
  if (choice.model == "logistic") return make_logistic(choice, seed);
  if (choice.model == "linear") return make_linear(choice, seed);
  if (is_network(choice.model)) return make_network_problem(choice, seed);
  assert(choice.model == "softmax");
  return std::make_unique<Softmax>(read_prepared(choice, seed));
}

}  // namespace dasgd
