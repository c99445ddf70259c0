// What the program and its module of networks know of each other. The module links LibTorch; the
// program does not, and opens the module when a network is asked for.
#pragma once

#include <memory>

#include "dasgd/adapters/torch/network.hpp"

namespace dasgd {

/// Identifies this build. Objects with virtual functions cross the border, so both sides must come
/// from the same headers and compiler: a module of another build is refused.
inline constexpr const char* network_module_build = DASGD_NETWORK_MODULE_BUILD;

/// The symbols of the module, and their types.
inline constexpr const char* network_module_build_symbol = "dasgd_network_module_build";
inline constexpr const char* make_network_symbol = "dasgd_make_network";
inline constexpr const char* open_network_symbol = "dasgd_open_network";
using NetworkModuleBuild = const char*();
/// As make_network. The caller owns what is returned; the module stays open for good.
using MakeNetwork = Network*(const NetworkOptions&, const std::shared_ptr<const Samples>&);
/// As open_saved_network.
using OpenNetwork = Predictor*(const std::string&);

}  // namespace dasgd
