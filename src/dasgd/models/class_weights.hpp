// How much the samples of each class count.
#pragma once

#include <string>
#include <vector>

#include "dasgd/data/preparation/data_parts.hpp"

namespace dasgd {

/// "balanced": every class counts as much as any other, and a sample 1 in the mean; or
/// "NAME:WEIGHT,...", classes that are not named weigh 1. Empty for an empty text. Throws
/// InputError.
std::vector<float> find_class_weights(const std::string& text, const DataParts& parts);

}  // namespace dasgd
