// The entry of dasgd_networks.so.
#include "dasgd/models/network_module.hpp"

extern "C" {

__attribute__((visibility("default"))) const char* dasgd_network_module_build() {
  return dasgd::network_module_build;
}

__attribute__((visibility("default"))) dasgd::Network* dasgd_make_network(
    const dasgd::NetworkOptions& options, const std::shared_ptr<const dasgd::Samples>& samples) {
  return dasgd::make_network(options, samples).release();
}

__attribute__((visibility("default"))) dasgd::Predictor* dasgd_open_network(
    const std::string& path) {
  return dasgd::open_saved_network(path).release();
}
}
