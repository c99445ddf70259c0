// All rivals that can be chosen by name.
#pragma once

#include <vector>

#include "dasgd/lab/rivals/kind.hpp"

namespace dasgd {

/// In the order of `dasgd compare --list`. The first is DASGD, which runs in its own simulator and
/// has no participants to make.
const std::vector<RivalKind>& all_rivals();

/// The name of the algorithm that all others are compared with.
inline constexpr const char* dasgd_rival = "dasgd";

}  // namespace dasgd
