// Opens the module of networks when it is needed, so that nothing else waits for LibTorch.
#pragma once

#include <string>

#include "dasgd/models/network_module.hpp"

namespace dasgd {

/// What dasgd_networks.so offers.
struct NetworkModule {
  MakeNetwork* make = nullptr;
  OpenNetwork* open = nullptr;
};

/// The functions in dasgd_networks.so, which lies beside the program or in the library directory of
/// its installation. Throws InputError, with what to do, for a module that is absent, does not load
/// or belongs to another build.
NetworkModule load_networks(const std::string& model);

}  // namespace dasgd
