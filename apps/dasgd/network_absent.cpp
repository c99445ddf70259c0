// What stands for network_problem.cpp in a build without LibTorch.
#include "dasgd/core/error.hpp"
#include "network_problem.hpp"

namespace dasgd::app {
namespace {

[[noreturn]] void refuse(const std::string& model) {
  throw InputError("--model " + model +
                   " needs LibTorch, and this dasgd was built without it; install libtorch-dev and "
                   "build again");
}

}  // namespace

std::unique_ptr<Objective<float>> make_network_problem(const Config& config) {
  refuse(config.model);
}

std::unique_ptr<Objective<float>> make_network_problem(const NetworkOptions& options,
                                                       std::shared_ptr<const Samples>) {
  refuse(options.model);
}

std::optional<std::string> torchscript_of(const Objective<float>&, std::span<const float>) {
  return std::nullopt;
}

}  // namespace dasgd::app
