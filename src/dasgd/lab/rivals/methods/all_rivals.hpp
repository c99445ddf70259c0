// Every rival that is known by name.
#pragma once

#include <vector>

#include "dasgd/lab/rivals/kind.hpp"

namespace dasgd {

/// In the order of `dasgd compare --list`; DASGD, which runs in its own simulator and has nobody to
/// make, is the first.
const std::vector<RivalKind>& all_rivals();

/// The name of the algorithm that all others are held against.
inline constexpr const char* dasgd_rival = "dasgd";

}  // namespace dasgd
