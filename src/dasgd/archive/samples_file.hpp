// samples.json: a few images with what the model of a run says they are.
#pragma once

#include <span>
#include <string>

#include "dasgd/data/images/shown_samples.hpp"

namespace dasgd {

/// [{"picture": a PNG as base64, "label", "answer", "probability"}, ...]
std::string samples_json(std::span<const ShownSample> samples);

}  // namespace dasgd
