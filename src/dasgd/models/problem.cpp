#include "dasgd/models/problem.hpp"

#include <algorithm>
#include <filesystem>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/models/read_data.hpp"
#include "dasgd/problems/logistic.hpp"
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

std::unique_ptr<Objective<double>> make_logistic(const std::string& data, std::uint64_t seed) {
  if (data.empty()) return std::make_unique<Logistic>(Logistic::random(seed));
  return std::make_unique<Logistic>(read_libsvm(file_for("logistic", data, "a LIBSVM text file")));
}

}  // namespace

void require_known_model(const std::string& name) {
  std::vector<std::string> names{"quadratic", "logistic", "softmax"};
  names.insert(names.end(), network_names().begin(), network_names().end());
  if (!is_network(name) && std::find(names.begin(), names.end(), name) == names.end())
    throw InputError("unknown model \"" + name + "\"" + suggestion(name, names));
  if (name.ends_with(".pt") && !std::filesystem::is_regular_file(name))
    throw InputError("is not a file; a model is a name or a TorchScript file");
}

Problem make_problem(const ProblemChoice& choice, std::uint64_t seed) {
  if (choice.model == "quadratic") return make_quadratic(choice.data, seed);
  if (choice.model == "logistic") return make_logistic(choice.data, seed);
  if (is_network(choice.model)) return make_network_problem(choice, seed);
  const std::string path = locate_data(choice.data);
  if (!std::filesystem::is_directory(path))
    throw InputError(path +
                     ": is not a directory; the model softmax needs a directory of idx images");
  return std::make_unique<Softmax>(read_images(path));
}

}  // namespace dasgd
