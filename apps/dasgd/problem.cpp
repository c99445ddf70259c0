#include "problem.hpp"

#include <filesystem>

#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/problems/softmax.hpp"
#include "network_problem.hpp"
#include "samples.hpp"

namespace dasgd::app {
namespace {

std::string file_for(const std::string& model, const std::string& data, const char* what) {
  const std::string path = locate_data(data);
  if (std::filesystem::is_directory(path))
    throw InputError(path + ": is a directory; --model " + model + " needs " + what);
  return path;
}

std::unique_ptr<Objective<double>> make_quadratic(const Config& config) {
  if (config.data.empty()) return std::make_unique<Quadratic>(Quadratic::random(config.seed));
  const auto path = file_for("quadratic", config.data, "a JSON instance {\"A\", \"b\"}");
  return std::make_unique<Quadratic>(read_linear_system(path));
}

std::unique_ptr<Objective<double>> make_logistic(const Config& config) {
  if (config.data.empty()) return std::make_unique<Logistic>(Logistic::random(config.seed));
  return std::make_unique<Logistic>(
      read_libsvm(file_for("logistic", config.data, "a LIBSVM text file")));
}

}  // namespace

Problem make_problem(const Config& config) {
  if (config.model == "quadratic") return make_quadratic(config);
  if (config.model == "logistic") return make_logistic(config);
  if (is_network(config.model)) return make_network_problem(config);
  const std::string path = locate_data(config.data);
  if (!std::filesystem::is_directory(path))
    throw InputError(path +
                     ": is not a directory; --model softmax needs a directory of idx images");
  return std::make_unique<Softmax>(read_images(path));
}

}  // namespace dasgd::app
