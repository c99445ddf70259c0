// samples.json: a few images with what the model of a run says they are.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "dasgd/data/images/shown_samples.hpp"
#include "dasgd/data/predictor.hpp"
#include "dasgd/data/preparation/prepared_samples.hpp"

namespace dasgd {

/// [{"picture": a PNG as base64, "label", "answer", "probability"}, ...]
std::string samples_json(std::span<const ShownSample> samples);

/// worst.json: the samples of the part that judges with which the model is most wrong, as `model`
/// answers: wrong classes by the probability of the right one, numbers by their error. Looks at a
/// few thousand samples at most. Nothing where there are none, or all are right.
std::optional<std::string> worst_json(const PreparedSamples& samples, Predictor& model);

}  // namespace dasgd
